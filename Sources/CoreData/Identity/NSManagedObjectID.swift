// The identity of an object across contexts and threads.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// Identifies one object of one store. Immutable, so it may be passed between threads.
public final class NSManagedObjectID: NSObject, NSCopying, @unchecked Sendable {
    let key: ObjectKey
    let identity: StoreIdentities?
    private let info: EntityInfo

    init(key: ObjectKey, identity: StoreIdentities?, info: EntityInfo) {
        self.key = key
        self.identity = identity
        self.info = info
    }

    public var entity: NSEntityDescription { info.description }

    /// Whether the object has no permanent ID yet; saving gives it one.
    public var isTemporaryID: Bool { key.number <= 0 }

    /// The store of the object; nil for a temporary ID and after the store was removed.
    public var persistentStore: NSPersistentStore? { identity?.store(key.store) }

    /// `x-coredata://STORE/Entity/pN`, or `x-coredata:///Entity/t…` while temporary.
    public func uriRepresentation() -> URL { URL(string: uri) ?? URL(fileURLWithPath: "/") }

    /// The text of `uriRepresentation()`.
    var uri: String {
        var host = ""
        var path = "/\(info.entity.name)/"
        if isTemporaryID {
            path += "t\(identity?.uuid ?? "")\(key.number.magnitude)"
        } else {
            host = identity?.uuid(of: key.store) ?? ""
            path += "p\(identity?.store(key.store)?.reference(of: key) ?? String(key.number))"
        }
        if NSManagedObjectID.isPlain(host), NSManagedObjectID.isPlain(path) { return "x-coredata://\(host)\(path)" }
        var components = URLComponents()
        (components.scheme, components.host, components.path) = ("x-coredata", host, path)
        return components.string ?? ""
    }

    /// Whether nothing of a part of a URI has to be escaped. A program's own store may have any text as a reference.
    private static func isPlain(_ part: String) -> Bool {
        part.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }

    public override var hash: Int {
        Int(truncatingIfNeeded: UInt64(bitPattern: key.number) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(rootNumber))
    }

    private var rootNumber: UInt16 { info.entity.root.rawValue }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectID else { return false }
        return key.number == other.key.number && key.store == other.key.store && rootNumber == other.rootNumber
            && identity === other.identity
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override var description: String { uri }
}
