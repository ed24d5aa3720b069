// Keyed archives as values.

import Foundation

/// Reads one archive strictly. A value used once.
///
/// Objects of the classes of property lists are made here; of others only the classes are looked at, and whether they are allowed.
struct KeyedArchiveReader {
    private let objects: [ArchiveNode]
    private let root: Int
    private let allowed: [AnyClass]?
    /// Classes of objects that code themselves, as far as they were met.
    private(set) var classes: [AnyClass] = []
    private var made: [Int: Any] = [:]
    private var open: Set<Int> = []

    init(_ data: Data, allowing allowed: [AnyClass]?) throws(ArchiveError) {
        var reader = try BinaryPropertyListReader(data)
        guard case .dictionary(let archive) = try reader.root(), case .array(let objects)? = archive["$objects"],
            case .dictionary(let top)? = archive["$top"], case .reference(let root)? = top["root"],
            objects.indices.contains(root)
        else { throw ArchiveError("The data is no keyed archive with a root object.") }
        self.objects = objects
        self.root = root
        self.allowed = allowed
    }

    /// The root object, nil when only Foundation can make it: then all objects of the archive have been looked at.
    mutating func value() throws(ArchiveError) -> Any? {
        var needsFoundation = false
        for index in objects.indices {
            if try isForeign(index) { needsFoundation = true }
        }
        guard root > 0 else { throw ArchiveError("The archive holds nil.") }
        if needsFoundation {
            for index in objects.indices {
                let isForeign = try isForeign(index)
                let isPart = try isPart(index)
                // Made only to see that it can be made.
                if !isForeign, !isPart { _ = try object(index, depth: 0) }
            }
            return nil
        }
        let value = try object(root, depth: 0)
        try requireRoot(value)
        return value
    }

    // MARK: Classes

    private func className(_ index: Int) throws(ArchiveError) -> String? {
        guard case .dictionary(let entries) = objects[index], let reference = entries["$class"] else { return nil }
        guard case .reference(let place) = reference, objects.indices.contains(place),
            case .dictionary(let description) = objects[place], case .text(let name)? = description["$classname"]
        else { throw damaged }
        return name
    }

    private static let made: Set<String> = [
        "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSDictionary", "NSMutableDictionary", "NSDate", "NSURL",
        "NSUUID", "NSNull", "NSString", "NSMutableString", "NSData", "NSMutableData", "NSDecimalNumberPlaceholder",
        "NSDecimalNumber",
    ]

    /// Class descriptions and other parts that no object is made of by itself.
    private func isPart(_ index: Int) throws(ArchiveError) -> Bool {
        guard case .dictionary = objects[index] else { return false }
        return try className(index) == nil
    }

    /// Whether an object codes itself; its class is then allowed and listed.
    private mutating func isForeign(_ index: Int) throws(ArchiveError) -> Bool {
        guard let name = try className(index), !Self.made.contains(name) else { return false }
        guard let type = NSClassFromString(name) else {
            throw ArchiveError("The archive holds an object of the class \(name), which this program does not have.")
        }
        guard type is any NSSecureCoding.Type, allowed == nil || isAllowed(type) else {
            throw ArchiveError(
                "The archive holds an object of the class \(name), which is not allowed. Name it in the transformer's "
                    + "allowedTopLevelClasses.")
        }
        if !classes.contains(where: { $0 == type }) { classes.append(type) }
        return true
    }

    private func isAllowed(_ type: AnyClass) -> Bool {
        guard let allowed else { return true }
        var current: AnyClass? = type
        while let candidate = current {
            if allowed.contains(where: { $0 == candidate }) { return true }
            current = _getSuperclass(candidate)
        }
        return false
    }

    /// The archived object itself must be of an allowed class, also when it is of a harmless one.
    private func requireRoot(_ value: Any) throws(ArchiveError) {
        let type: AnyClass =
            switch value {
            case is String: NSString.self
            case is Date: NSDate.self
            case is Data: NSData.self
            case is URL: NSURL.self
            case is UUID: NSUUID.self
            case let object as NSArray: Swift.type(of: object)
            case let object as NSDictionary: Swift.type(of: object)
            case let object as NSSet: Swift.type(of: object)
            case is NSNull: NSNull.self
            default: NSNumber.self
            }
        guard !isAllowed(type) else { return }
        throw ArchiveError("The archive holds an object of the class \(type), which the transformer does not allow.")
    }

    // MARK: Objects

    private var damaged: ArchiveError { ArchiveError("The archive is damaged.") }

    private mutating func object(_ index: Int, depth: Int) throws(ArchiveError) -> Any {
        guard objects.indices.contains(index), depth <= KeyedArchive.deepest + 1 else { throw damaged }
        if let known = made[index] { return known }
        guard open.insert(index).inserted else { throw ArchiveError("The archive holds an object inside itself.") }
        defer { open.remove(index) }
        let object = try make(index, depth: depth)
        made[index] = object
        return object
    }

    private mutating func make(_ index: Int, depth: Int) throws(ArchiveError) -> Any {
        switch objects[index] {
        case .null: return NSNull()
        case .bool(let flag): return NSNumber(value: flag)
        case .integer(let number): return NSNumber(value: number)
        case .large(let number): return NSNumber(value: number)
        case .real(let number): return NSNumber(value: number)
        case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): return data
        case .text(let text): return index == 0 ? NSNull() as Any : text
        case .reference, .array: throw damaged
        case .dictionary(let entries):
            guard let name = try className(index) else { throw damaged }
            return try make(name, entries, depth: depth)
        }
    }

    private mutating func make(
        _ name: String, _ entries: [String: ArchiveNode], depth: Int
    ) throws(ArchiveError) -> Any {
        switch name {
        case "NSArray": return NSArray(array: try members(entries["NS.objects"], depth))
        case "NSMutableArray": return NSMutableArray(array: try members(entries["NS.objects"], depth))
        case "NSSet": return NSSet(array: try members(entries["NS.objects"], depth))
        case "NSMutableSet": return NSMutableSet(array: try members(entries["NS.objects"], depth))
        case "NSDictionary": return NSDictionary(dictionary: try dictionary(entries, depth))
        case "NSMutableDictionary": return NSMutableDictionary(dictionary: try dictionary(entries, depth))
        case "NSNull": return NSNull()
        case "NSDate":
            guard let seconds = Self.real(entries["NS.time"]) else { throw damaged }
            return Date(timeIntervalSinceReferenceDate: seconds)
        case "NSUUID":
            guard case .data(let data)? = entries["NS.uuidbytes"], data.count == 16 else { throw damaged }
            return UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
        case "NSURL": return try url(entries, depth)
        case "NSString", "NSMutableString":
            guard let text = try inner(entries["NS.string"], depth) as? String else { throw damaged }
            return text
        case "NSData", "NSMutableData":
            guard let data = try inner(entries["NS.data"], depth) as? Data else { throw damaged }
            return data
        case "NSDecimalNumberPlaceholder", "NSDecimalNumber":
            guard let number = DecimalArchive.number(entries) else { throw damaged }
            return NSDecimalNumber(decimal: number)
        default: return NSNull()  // an object that codes itself, while the others are checked
        }
    }

    private static func real(_ node: ArchiveNode?) -> Double? {
        switch node {
        case .real(let number), .date(let number): number
        case .integer(let number): Double(number)
        case .null, .bool, .large, .data, .text, .reference, .array, .dictionary, nil: nil
        }
    }

    /// A field, in place or by reference.
    private mutating func inner(_ node: ArchiveNode?, _ depth: Int) throws(ArchiveError) -> Any? {
        switch node {
        case .reference(let place): return place == 0 ? nil : try object(place, depth: depth + 1)
        case .text(let text): return text
        case .data(let data): return data
        case .null, .bool, .integer, .large, .real, .date, .array, .dictionary, nil: return nil
        }
    }

    private mutating func members(_ node: ArchiveNode?, _ depth: Int) throws(ArchiveError) -> [Any] {
        guard case .array(let nodes)? = node else { throw damaged }
        var members: [Any] = []
        for node in nodes {
            guard case .reference(let place) = node else { throw damaged }
            members.append(try object(place, depth: depth + 1))
        }
        return members
    }

    private mutating func dictionary(
        _ entries: [String: ArchiveNode], _ depth: Int
    ) throws(ArchiveError) -> [AnyHashable: Any] {
        let keys = try members(entries["NS.keys"], depth)
        let values = try members(entries["NS.objects"], depth)
        guard keys.count == values.count else { throw damaged }
        var result: [AnyHashable: Any] = [:]
        for (key, value) in zip(keys, values) {
            // Decimal numbers have no hash on Linux that ends.
            guard !(key is NSDecimalNumber), let key = key as? AnyHashable else { throw damaged }
            result[key] = value
        }
        return result
    }

    private mutating func url(_ entries: [String: ArchiveNode], _ depth: Int) throws(ArchiveError) -> Any {
        let base = try inner(entries["NS.base"], depth) as? URL
        guard let text = try inner(entries["NS.relative"], depth) as? String, let url = URL(string: text, relativeTo: base)
        else { throw damaged }
        return url
    }
}
