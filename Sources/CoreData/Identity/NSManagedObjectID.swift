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
    public func uriRepresentation() -> URL {
        var components = URLComponents()
        components.scheme = "x-coredata"
        let name = info.entity.name
        if isTemporaryID {
            components.host = ""
            components.path = "/\(name)/t\(identity?.uuid ?? "")\(key.number.magnitude)"
        } else {
            components.host = identity?.uuid(of: key.store) ?? ""
            let reference = identity?.store(key.store)?.reference(of: key) ?? String(key.number)
            components.path = "/\(name)/p\(reference)"
        }
        return components.url ?? URL(fileURLWithPath: "/")
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

    public override var description: String { uriRepresentation().absoluteString }
}
