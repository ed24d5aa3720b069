// Values as keyed archives.

import CoreDataValues
import Foundation

/// Makes one archive. A value used once.
struct KeyedArchiveWriter {
    private var objects: [ArchiveNode] = [.text("$null")]
    private var classes: [String: Int] = [:]
    private var texts: [String: Int] = [:]
    /// Whether something was met that only Foundation can archive.
    private var needsFoundation = false

    /// The archive of a value made of the classes of property lists; nil when objects that code themselves are among it.
    ///
    /// - Throws: for a value that nobody can archive.
    mutating func archive(_ value: Any) throws(ArchiveError) -> Data? {
        let root = try add(value, depth: 0)
        if needsFoundation {
            guard decimals == 0 else {
                throw ArchiveError("A decimal number beside objects that code themselves cannot be archived.")
            }
            return nil
        }
        return ArchivedObjects.data(objects, root: root)
    }

    private var decimals = 0

    private mutating func append(_ node: ArchiveNode) -> Int {
        objects.append(node)
        return objects.count - 1
    }

    private mutating func append(_ entries: [String: ArchiveNode], _ names: [String]) -> Int {
        var entries = entries
        let name = names[0]
        if classes[name] == nil {
            classes[name] = append(
                .dictionary([
                    "$classname": .text(name), "$classes": .array((names + ["NSObject"]).map { .text($0) }),
                ]))
        }
        entries["$class"] = .reference(classes[name] ?? 0)
        return append(.dictionary(entries))
    }

    private mutating func add(_ any: Any, depth: Int) throws(ArchiveError) -> Int {
        guard depth < KeyedArchive.deepest else {
            throw ArchiveError("The value holds things more than \(KeyedArchive.deepest) levels deep.")
        }
        guard let value = KeyValue.unwrapped(any) else { return append([:], ["NSNull"]) }
        if !(value is NSDecimalNumber), let number = value as? UInt64, number > UInt64(Int64.max) {
            return append(.large(number))
        }
        if let number = value as? NSNumber, type(of: value) is AnyClass,
            number.objCType.pointee == CChar(bitPattern: UInt8(ascii: "c"))
        {
            return append(.bool(number.boolValue))
        }
        if let found = Value(any: value) { return try add(found) }
        let isObject = type(of: value) is AnyClass
        switch value {
        case let array as NSArray where isObject:
            let names = array is NSMutableArray ? ["NSMutableArray", "NSArray"] : ["NSArray"]
            return try add(objectsOf: array.map { $0 }, names, depth)
        case let set as NSSet where isObject:
            let names = set is NSMutableSet ? ["NSMutableSet", "NSSet"] : ["NSSet"]
            return try add(objectsOf: set.allObjects, names, depth)
        case let dictionary as NSDictionary where isObject: return try add(dictionary, depth)
        case is NSError where isObject:
            throw ArchiveError("An NSError cannot be archived: Foundation on Linux ends the process.")
        case is any NSSecureCoding where isObject:
            needsFoundation = true
            return 0
        case let array as [Any] where !isObject: return try add(objectsOf: array, ["NSArray"], depth)
        case let set as Set<AnyHashable> where !isObject: return try add(objectsOf: set.map(\.base), ["NSSet"], depth)
        case let dictionary as [AnyHashable: Any] where !isObject:
            return try add(NSDictionary(dictionary: dictionary), depth)
        default:
            throw ArchiveError(
                "A value of type \(type(of: value)) cannot be archived: it is of no class of property lists and no "
                    + "NSSecureCoding. Name a transformer for the attribute, for a Codable type a CodableTransformer.")
        }
    }

    private mutating func add(
        objectsOf members: [Any], _ names: [String], _ depth: Int
    ) throws(ArchiveError) -> Int {
        let references = try references(members, depth)
        return append(["NS.objects": .array(references)], names)
    }

    private mutating func references(_ members: [Any], _ depth: Int) throws(ArchiveError) -> [ArchiveNode] {
        var references: [ArchiveNode] = []
        for member in members { references.append(.reference(try add(member, depth: depth + 1))) }
        return references
    }

    private mutating func add(_ dictionary: NSDictionary, _ depth: Int) throws(ArchiveError) -> Int {
        // In order, so that equal dictionaries give equal bytes.
        let keys = dictionary.allKeys.map { (key: $0, text: String(describing: $0)) }
            .sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }.map(\.key)
        let values = keys.map { dictionary.object(forKey: $0) ?? NSNull() }
        let names = dictionary is NSMutableDictionary ? ["NSMutableDictionary", "NSDictionary"] : ["NSDictionary"]
        let keyNodes = try references(keys, depth)
        let valueNodes = try references(values, depth)
        return append(["NS.keys": .array(keyNodes), "NS.objects": .array(valueNodes)], names)
    }

    private mutating func add(_ value: Value) throws(ArchiveError) -> Int {
        switch value {
        case .null, .key: return append([:], ["NSNull"])
        case .bool(let flag): return append(.bool(flag))
        case .int(let number): return append(.integer(number))
        case .double(let number): return append(.real(number))
        case .decimal(let number):
            decimals += 1
            return append(DecimalArchive.entries(number), DecimalArchive.classes)
        case .text(let text):
            if let known = texts[text], case .text(let same) = objects[known], same.hasSameBytes(text) {
                return known
            }
            texts[text] = append(.text(text))
            return objects.count - 1
        case .date(let seconds): return append(["NS.time": .real(seconds)], ["NSDate"])
        case .data(let data): return append(.data(data))
        case .uuid(let uuid):
            let bytes = withUnsafeBytes(of: uuid.uuid) { Data($0) }
            return append(["NS.uuidbytes": .data(bytes)], ["NSUUID"])
        case .uri(let text):
            let place = try add(.text(text))
            return append(["NS.base": .reference(0), "NS.relative": .reference(place)], ["NSURL"])
        }
    }
}
