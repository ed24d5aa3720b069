// Swift and Foundation objects as operands, and back.

import CoreDataValues
import Foundation

extension Value {
    /// The value that an object stands for; nil for collections and for objects with properties.
    package init?(any object: Any?) {
        if let object, let common = Value(plain: object) {
            self = common
            return
        }
        guard let object = KeyValue.unwrapped(object) else {
            self = .null
            return
        }
        if isPlainCollection(object) { return nil }
        let found = type(of: object) is AnyClass ? Value(reference: object) : Value(native: object)
        guard let found else { return nil }
        self = found
    }

    /// The value of an object of one of the types that most are of, told by the type alone; nil for all others.
    init?(plain object: Any) {
        guard let type = PlainType(of: object) else { return nil }
        switch type {
        case .string: self = .text(Value.inside(object))
        case .int: self = .int(Int64(Value.inside(object, Int.self)))
        case .double: self = .double(Value.inside(object))
        case .date: self = .date(Value.inside(object, Date.self).timeIntervalSinceReferenceDate)
        case .dateObject: self = .date(Value.inside(object, NSDate.self).timeIntervalSinceReferenceDate)
        case .number: self = Value.number(Value.inside(object))
        case .uuid: self = .uuid(Value.inside(object))
        }
    }

    /// An object whose very type is known. An `Any` holds what fits three words in its first words; a cast takes 300 instructions.
    @inline(__always)
    private static func inside<T>(_ object: Any, _ type: T.Type = T.self) -> T {
        withUnsafeBytes(of: object) { $0.load(as: T.self) }
    }

    private init?(native object: Any) {
        switch object {
        case let value as Value: self = value
        case let value as Bool: self = .bool(value)
        case let value as String: self = .text(value)
        case let value as Substring: self = .text(String(value))
        case let value as Character: self = .text(String(value))
        case let value as Decimal: self = .decimal(value)
        case let value as Date: self = .date(value.timeIntervalSinceReferenceDate)
        case let value as UUID: self = .uuid(value)
        case let value as Data: self = .data(value)
        case let value as URL: self = .uri(value.absoluteString)
        case let value as ObjectKey: self = .key(value)
        case let value as any BinaryInteger:
            self = Int64(exactly: value).map(Value.int) ?? .double(Double(value))
        case let value as any BinaryFloatingPoint: self = .double(Double(value))
        default: return nil
        }
    }

    private init?(reference object: Any) {
        switch object {
        case let value as NSString: self = .text(String(describing: value))
        case let value as NSDecimalNumber: self = .decimal(value.decimalValue)
        case let value as NSNumber: self = Value.number(value)
        case let value as NSDate: self = .date(value.timeIntervalSinceReferenceDate)
        case let value as NSData: self = .data(Data(referencing: value))
        case let value as NSUUID: self = UUID(uuidString: value.uuidString).map(Value.uuid) ?? .null
        case let value as NSURL: self = .uri(value.absoluteString)
        default: return nil
        }
    }

    private static func number(_ number: NSNumber) -> Value {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): .double(number.doubleValue)
        case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max): .double(number.doubleValue)
        default: .int(number.int64Value)
        }
    }

    /// The object that programs expect for the value: numbers as `NSNumber`, all else as Swift types.
    package var object: Any? {
        switch self {
        case .null: nil
        case .bool(let flag): NSNumber(value: flag)
        case .int(let int): NSNumber(value: int)
        case .double(let double): NSNumber(value: double)
        case .decimal(let decimal): NSDecimalNumber(decimal: decimal)
        case .text(let text): text
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .uri(let uri): URL(string: uri)
        case .key(let key): key
        }
    }
}

extension Operand {
    /// What a predicate sees of an object: a value, a collection, or something with keys.
    package init(any object: Any?) {
        guard let object = KeyValue.unwrapped(object) else {
            self = .value(.null)
            return
        }
        if let source = object as? any EvaluationSource {
            self = .source(source)
        } else if let value = Value(any: object) {
            if case .double(let number) = value, Operand.isFloat(object) {
                self = .float(Float(number))
            } else {
                self = .value(value)
            }
        } else if let members = Operand.members(of: object) {
            self = .collection(members.map { Operand(any: $0) })
        } else {
            self = .source(KeyedObject(object: object))
        }
    }

    /// Whether an object that a key answered is a Float, as the values of Float attributes are.
    private static func isFloat(_ object: Any) -> Bool {
        if let number = object as? NSNumber { return number.objCType.pointee == CChar(bitPattern: UInt8(ascii: "f")) }
        return object is Float
    }

    /// The members of a collection; nil for dictionaries, which have keys, and for all else.
    static func members(of object: Any) -> [Any]? {
        if isPlainCollection(object), let collection = object as? any PlainCollection { return collection.members }
        return switch object {
        case let array as NSArray: (0..<array.count).map { array.object(at: $0) }
        case let set as NSSet: set.allObjects
        case let set as NSOrderedSet: (0..<set.count).map { set.object(at: $0) }
        case let array as [Any]: array
        case let set as Set<AnyHashable>: set.map(\.base)
        default: nil
        }
    }

    /// The object that was, or that programs expect for a value.
    package var object: Any? {
        switch self {
        case .value(let value): value.object
        case .float(let float): NSNumber(value: float)
        case .collection(let members): members.map { $0.object ?? NSNull() }
        case .source(let source): (source as? KeyedObject)?.object ?? source
        case .opaque(let object): object
        }
    }
}

/// Any object or dictionary, seen through key-value coding.
struct KeyedObject: EvaluationSource {
    let object: Any

    var identity: Value { .null }

    var count: Int? { (object as? NSDictionary)?.count }

    func operand(forKey key: String) -> Operand {
        Operand(any: KeyValue.value(of: object, forKey: key, unknown: .isNil))
    }

    /// The same instance, or equal as Foundation or Swift sees it.
    func isSame(as other: any EvaluationSource) -> Bool {
        guard let other = (other as? KeyedObject)?.object else { return false }
        if let a = object as? NSObject, let b = other as? NSObject { return a === b || a.isEqual(b) }
        if type(of: object) is AnyClass, type(of: other) is AnyClass {
            return (object as AnyObject) === (other as AnyObject)
        }
        guard let a = object as? AnyHashable, let b = other as? AnyHashable else { return false }
        return a == b
    }
}
