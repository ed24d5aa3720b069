// Who is told what others write to a store.

import CoreDataFoundation
import Foundation
import Synchronization

/// The stores of the process that are watched, each place once.
enum RemoteChanges {
    private static let places = Mutex<[String: WatchedStore]>([:])

    /// Tells a store's coordinator from now on.
    static func add(_ store: NSPersistentStore) { enter(store) { $0.add(store) } }

    static func remove(_ store: NSPersistentStore) {
        for place in places.withLock({ Array($0.values) }) { place.remove(store) }
        leaveUnused()
    }

    /// Tells every coordinator that has this store's file and asked to be told, this one included, of a write that it made.
    static func tell(of store: NSPersistentStore) {
        places.withLock { Array($0.values) }.first { $0.has(store) }?.tellOwn(store)
    }

    /// Has what is heard of these stores' files wait until `endSpanningSave` of each answered place.
    static func beginSpanningSave(over stores: [NSPersistentStore]) -> [WatchedStore] {
        let places = places.withLock { Array($0.values) }.filter { place in stores.contains { place.has($0) } }
        for place in places { place.beginSpanningSave() }
        return places
    }

    /// Has everybody who waits for writes look which stores are there.
    static func wake() { for place in places.withLock({ Array($0.values) }) { place.wake() } }

    /// Calls a function whenever the store may have been written by anybody, until the answer is let go.
    static func watch(_ store: NSPersistentStore, _ changed: @escaping @Sendable () -> Void) -> StoreWatch {
        enter(store) { StoreWatch($0, changed) }
    }

    /// - Parameter body: adds somebody to the place, which nobody takes away meanwhile.
    private static func enter<Result>(_ store: NSPersistentStore, _ body: (WatchedStore) -> Result) -> Result {
        leaveUnused()
        let key = key(of: store)
        let (place, isNew) = places.withLock { places in
            let known = places[key]
            let place = known ?? WatchedStore(store)
            place.visitors.wrappingAdd(1, ordering: .relaxed)
            places[key] = place
            return (place, known == nil)
        }
        defer { place.visitors.wrappingSubtract(1, ordering: .releasing) }
        if isNew { place.begin(with: store) }
        return body(place)
    }

    fileprivate static func leaveUnused() {
        let unused = places.withLock { places in
            let unused = places.filter { !$0.value.isUsed }
            for key in unused.keys { places[key] = nil }
            return Array(unused.values)
        }
        for place in unused { place.end() }
    }

    private static func key(of store: NSPersistentStore) -> String {
        guard let url = store.url else { return "\(ObjectIdentifier(store))" }
        return "\(url.standardizedFileURL.resolvingSymlinksInPath().path) \(store.identifier ?? "")"
    }
}

/// Somebody who wants to know of writes, for as long as he has this.
final class StoreWatch: Sendable {
    private let place: WatchedStore

    fileprivate init(_ place: WatchedStore, _ changed: @escaping @Sendable () -> Void) {
        self.place = place
        place.add(self, changed)
    }

    deinit {
        place.remove(self)
        RemoteChanges.leaveUnused()
    }
}

extension NSPersistentStore {
    final func tellRemoteChange() { RemoteChanges.tell(of: self) }
}
