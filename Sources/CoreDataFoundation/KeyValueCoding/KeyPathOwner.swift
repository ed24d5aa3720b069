// Objects that keep what lies at the end of a dotted key themselves.

/// A managed object with composite attributes: `location.latitude` is one of its keys, not a key of a dictionary that it answers.
package protocol KeyPathOwner: KeyValueCoding {
    /// Whether it is worth asking.
    var mayOwnKeyPaths: Bool { get }
    func owns(keyPath: String) -> Bool
    /// What predicates and sort orders see: nil for a key that nobody answers for.
    func valueIfKnown(forKey key: String) -> Any?
}

extension KeyValue {
    /// The object on the way along a key path that owns the rest of it, with that rest.
    static func owner(of keyPath: String, from object: Any?) -> (owner: any KeyPathOwner, key: String)? {
        guard let owner = unwrapped(object) as? any KeyPathOwner, owner.mayOwnKeyPaths else { return nil }
        if owner.owns(keyPath: keyPath) { return (owner, keyPath) }
        guard let dot = keyPath.firstIndex(of: "."), !keyPath.hasPrefix("@") else { return nil }
        let next = owner.value(forKey: String(keyPath[..<dot]))
        return self.owner(of: String(keyPath[keyPath.index(after: dot)...]), from: next)
    }
}
