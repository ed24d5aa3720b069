// Keyed archives as values.

import CoreDataValues
import Foundation

/// Reads one archive strictly. A value used once.
///
/// Objects of the classes of property lists are made here; of others only the classes are looked at, and whether they are allowed.
struct KeyedArchiveReader {
    private let objects: ArchivedObjects
    private let root: Int
    /// By place, whether the root leads there.
    private let isNeeded: [Bool]
    private let allowed: [AnyClass]?
    /// Classes of objects that code themselves, as far as they were met.
    private(set) var classes: [AnyClass] = []
    private var made: [Int: Any] = [:]

    /// - Throws: for data that is no archive, and for more or deeper objects than `ArchiveLimits.objects`.
    init(_ data: Data, allowing allowed: [AnyClass]?) throws(ArchiveError) {
        do throws(ArchiveError) {
            objects = try ArchivedObjects(data)
            guard let root = objects.top("root") else { throw ArchiveError("It has no root object.") }
            self.root = root
            isNeeded = try objects.check(from: root, .objects)
        } catch { throw ArchiveError("The data cannot be read as an archive. " + error.sentence) }
        self.allowed = allowed
    }

    /// The root object, nil when only Foundation can make it: then all objects that it leads to have been looked at.
    mutating func value() throws(ArchiveError) -> Any? {
        var needsFoundation = false
        for place in 0..<objects.count where isNeeded[place] {
            if try isForeign(place) { needsFoundation = true }
        }
        guard root > 0 else { throw ArchiveError("The archive holds nil.") }
        if needsFoundation {
            for place in 0..<objects.count where isNeeded[place] {
                let isForeign = try isForeign(place)
                let isPart = try isPart(place)
                // Made only to see that it can be made.
                if !isForeign, !isPart { _ = try object(place) }
            }
            return nil
        }
        let value = try object(root)
        try requireRoot(value)
        return value
    }

    /// The archive as it was read, for Foundation: what it makes of other bytes than a writer's is its own affair.
    var rewritten: Data { objects.data(root: root) }

    // MARK: Classes

    private static let made: Set<String> = [
        "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSDictionary", "NSMutableDictionary", "NSDate", "NSURL",
        "NSUUID", "NSNull", "NSString", "NSMutableString", "NSData", "NSMutableData", "NSDecimalNumberPlaceholder",
        "NSDecimalNumber",
    ]

    /// Class descriptions and other parts that no object is made of by itself.
    private func isPart(_ place: Int) throws(ArchiveError) -> Bool {
        guard objects[place].entries != nil else { return false }
        return try objects.className(place) == nil
    }

    /// Whether an object codes itself; its class is then allowed and listed.
    private mutating func isForeign(_ place: Int) throws(ArchiveError) -> Bool {
        guard let name = try objects.className(place), !Self.made.contains(name) else { return false }
        guard let type = Self.isClassName(name) ? NSClassFromString(name) : nil else {
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

    /// Whether a text may be the name of a class: Foundation writes what it makes nothing of to standard error.
    private static func isClassName(_ text: String) -> Bool {
        text.utf8.count <= 1_000 && text.utf8.reduce(0) { $0 + ($1 == UInt8(ascii: ".") ? 1 : 0) } <= 1
            && text.unicodeScalars.allSatisfy { $0 == "." || $0 == "_" || $0 == "$" || $0.properties.isXIDContinue }
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

    /// The root leads to it, so it is no deeper than was measured, and holds itself nowhere.
    private mutating func object(_ place: Int) throws(ArchiveError) -> Any {
        if let known = made[place] { return known }
        let object = try make(place)
        made[place] = object
        return object
    }

    private mutating func make(_ place: Int) throws(ArchiveError) -> Any {
        let item = objects[place]
        if item.entries != nil {
            guard let name = try objects.className(place) else { throw damaged }
            return try make(name, item)
        }
        if place == 0 { return NSNull() }
        if let flag = item.bool { return NSNumber(value: flag) }
        guard item.array == nil, let value = item.value else { throw damaged }
        return value
    }

    private mutating func make(_ name: String, _ item: PropertyListItem) throws(ArchiveError) -> Any {
        switch name {
        case "NSArray": return NSArray(array: try members(item["NS.objects"]))
        case "NSMutableArray": return NSMutableArray(array: try members(item["NS.objects"]))
        case "NSSet": return NSSet(array: try members(item["NS.objects"]))
        case "NSMutableSet": return NSMutableSet(array: try members(item["NS.objects"]))
        case "NSDictionary": return NSDictionary(dictionary: try dictionary(item))
        case "NSMutableDictionary": return NSMutableDictionary(dictionary: try dictionary(item))
        case "NSNull": return NSNull()
        case "NSDate":
            guard let seconds = item["NS.time"]?.real else { throw damaged }
            return Date(timeIntervalSinceReferenceDate: seconds)
        case "NSUUID":
            guard let data = item["NS.uuidbytes"]?.data, data.count == 16 else { throw damaged }
            return UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
        case "NSURL": return try url(item)
        case "NSString", "NSMutableString":
            guard let text = try inner(item["NS.string"]) as? String else { throw damaged }
            return text
        case "NSData", "NSMutableData":
            guard let data = try inner(item["NS.data"]) as? Data else { throw damaged }
            return data
        case "NSDecimalNumberPlaceholder", "NSDecimalNumber":
            guard let number = DecimalArchive.number(item) else { throw damaged }
            return NSDecimalNumber(decimal: number)
        default: return NSNull()  // an object that codes itself, while the others are checked
        }
    }

    /// A field, in place or by reference.
    private mutating func inner(_ item: PropertyListItem?) throws(ArchiveError) -> Any? {
        if let place = item?.reference { return place == 0 ? nil : try object(place) }
        return item?.text ?? item?.data
    }

    private mutating func members(_ item: PropertyListItem?) throws(ArchiveError) -> [Any] {
        guard let array = item?.array else { throw damaged }
        var members: [Any] = []
        for item in array {
            guard let place = item.reference else { throw damaged }
            members.append(try object(place))
        }
        return members
    }

    private mutating func dictionary(_ item: PropertyListItem) throws(ArchiveError) -> [AnyHashable: Any] {
        let keys = try members(item["NS.keys"])
        let values = try members(item["NS.objects"])
        guard keys.count == values.count else { throw damaged }
        var result: [AnyHashable: Any] = [:]
        for (key, value) in zip(keys, values) {
            // Decimal numbers have no hash on Linux that ends.
            guard !(key is NSDecimalNumber), let key = key as? AnyHashable else { throw damaged }
            result[key] = value
        }
        return result
    }

    private mutating func url(_ item: PropertyListItem) throws(ArchiveError) -> Any {
        let base = try inner(item["NS.base"]) as? URL
        guard let text = try inner(item["NS.relative"]) as? String, let url = URL(string: text, relativeTo: base)
        else { throw damaged }
        return url
    }
}
