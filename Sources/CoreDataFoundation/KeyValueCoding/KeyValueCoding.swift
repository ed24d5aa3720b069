// Key-value coding: values by name, for objects of ours, collections, dictionaries and plain Swift objects.

import CoreDataValues
import Foundation

/// An object that answers for its own keys. Managed objects do; other classes may.
public protocol KeyValueCoding {
    func value(forKey key: String) -> Any?
    func setValue(_ value: Any?, forKey key: String)
}

/// Carries `value(forKey:)` to every `NSObject` without being a member of it, so that classes can override their own.
public protocol KeyValueReachable {}

extension NSObject: KeyValueReachable {}

extension KeyValueReachable where Self: NSObject {
    /// The value under a key: a dictionary's entry, the members' values of a collection, a stored property.
    ///
    /// A key that the object does not have is a programmer's mistake and traps with its name, as on Apple's systems.
    public func value(forKey key: String) -> Any? {
        if let coded = self as? any KeyValueCoding { return coded.value(forKey: key) }
        return KeyValue.value(of: self, forKey: key)
    }

    /// The value at the end of dotted keys; collection operators (`@count`, `@sum.x` …) apply where they stand.
    public func value(forKeyPath keyPath: String) -> Any? { KeyValue.value(of: self, forKeyPath: keyPath) }

    /// Sets a value by key. Only mutable dictionaries and objects that code their own keys can be written.
    public func setValue(_ value: Any?, forKey key: String) { KeyValue.set(value, on: self, forKey: key) }

    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        KeyValue.set(value, on: self, forKeyPath: keyPath)
    }
}

/// The rules of key-value coding for things of any type.
package enum KeyValue {
    /// What is made of a key that an object does not have: a programmer's mistake, or nil in predicates and sort orders, which may
    /// come from outside.
    package enum UnknownKey { case isMisuse, isNil }

    package static func value(of object: Any?, forKeyPath keyPath: String, unknown: UnknownKey = .isMisuse) -> Any? {
        let path = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return walk(path[...], from: object, unknown)
    }

    package static func value(of object: Any?, forKey key: String, unknown: UnknownKey = .isMisuse) -> Any? {
        guard let object = unwrapped(object) else { return nil }
        if unknown == .isNil, let owner = object as? any KeyPathOwner { return owner.valueIfKnown(forKey: key) }
        if let coded = object as? any KeyValueCoding { return coded.value(forKey: key) }
        if let found = entry(of: object, key) { return found.value }
        if let members = Operand.members(of: object) {
            return key.hasPrefix("@")
                ? walk([key][...], from: object, unknown) : values(ofMembers: object, members, forKey: key, unknown)
        }
        switch Operand(any: object) {
        case .value(let value): return ExpressionEvaluator.property(of: value, key)
        case .float, .source, .opaque, .collection: break
        }
        if let found = property(of: object, key) { return found.value }
        if unknown == .isNil { return nil }
        preconditionFailure("\(type(of: object)) has no value for the key “\(key)”.")
    }

    package static func set(_ value: Any?, on object: Any?, forKeyPath keyPath: String) {
        guard let dot = keyPath.lastIndex(of: ".") else { return set(value, on: object, forKey: keyPath) }
        if let (owner, key) = owner(of: keyPath, from: object) { return owner.setValue(value, forKey: key) }
        let owner = KeyValue.value(of: object, forKeyPath: String(keyPath[..<dot]))
        // As on Apple's systems, nothing is set where the path leads through nil.
        if let owner { set(value, on: owner, forKey: String(keyPath[keyPath.index(after: dot)...])) }
    }

    package static func set(_ value: Any?, on object: Any?, forKey key: String) {
        guard let object = unwrapped(object) else { return }
        if let coded = object as? any KeyValueCoding {
            coded.setValue(value, forKey: key)
        } else if let dictionary = object as? NSMutableDictionary {
            if let value {
                dictionary.setObject(value, forKey: key as NSString)
            } else {
                dictionary.removeObject(forKey: key)
            }
        } else if case .collection(let members) = Operand(any: object) {
            for member in members { set(value, on: member.object, forKey: key) }
        } else {
            preconditionFailure("\(type(of: object)) cannot be written by the key “\(key)”.")
        }
    }

    /// A dictionary's entry; nil when the object is no dictionary.
    private static func entry(of object: Any, _ key: String) -> (value: Any?, Void)? {
        if let dictionary = object as? NSDictionary {
            if key == "@allKeys" || key == "allKeys" { return (dictionary.allKeys, ()) }
            if key == "@allValues" || key == "allValues" { return (dictionary.allValues, ()) }
            if key == "@count" { return (dictionary.count, ()) }
            return (dictionary.object(forKey: key), ())
        }
        guard let dictionary = object as? [String: Any] else { return nil }
        if key == "@allKeys" { return (Array(dictionary.keys), ()) }
        if key == "@allValues" { return (Array(dictionary.values), ()) }
        if key == "@count" { return (dictionary.count, ()) }
        return (dictionary[key].flatMap(unwrapped), ())
    }

    /// A stored property, read by reflection, also an inherited one.
    package static func storedProperty(of object: Any, _ key: String) -> (value: Any?, Void)? {
        property(of: object, key)
    }

    private static func property(of object: Any, _ key: String) -> (value: Any?, Void)? {
        var mirror: Mirror? = Mirror(reflecting: object)
        while let current = mirror {
            for child in current.children where child.label == key || child.label == "_" + key {
                return (unwrapped(child.value), ())
            }
            mirror = current.superclassMirror
        }
        return nil
    }

    /// The raw value of an enumeration's case, else the thing itself.
    package static func rawValue(_ object: Any) -> Any {
        guard let object = unwrapped(object), PlainType(of: object) == nil, let raw = object as? any RawRepresentable
        else {
            return object
        }
        return raw.rawValue
    }

    /// The thing inside any number of optionals; `NSNull` counts as nil.
    package static func unwrapped(_ object: Any?) -> Any? {
        guard let object else { return nil }
        if PlainType(of: object) != nil || isPlainCollection(object) { return object }
        if object is NSNull { return nil }
        guard let optional = object as? any Wrapping else { return object }
        return optional.wrapped.flatMap(unwrapped)
    }

    /// The type inside any number of optionals.
    package static func unwrappedType(_ type: Any.Type) -> Any.Type {
        (type as? any Wrapping.Type).map { unwrappedType($0.wrappedType) } ?? type
    }

    package static func isOptional(_ type: Any.Type) -> Bool { type is any Wrapping.Type }
}

/// Lets an optional inside an `Any` be opened.
private protocol Wrapping {
    var wrapped: Any? { get }
    static var wrappedType: Any.Type { get }
}

extension Optional: Wrapping {
    fileprivate var wrapped: Any? { self }
    fileprivate static var wrappedType: Any.Type { Wrapped.self }
}

extension ExpressionEvaluator {
    /// A key of a plain value, such as a text's `length`.
    static func property(of value: Value, _ key: String) -> Any? {
        (try? ExpressionEvaluator(.keyPath([key])))?.value(.value(value)).object
    }
}
