// What a context posts, written down for a test.

import CoreData
import Foundation

/// The notifications of one context, in order.
package final class NotificationLog {
    package private(set) var entries: [(name: String, info: [AnyHashable: Any])] = []
    package var onEach: ((String) -> Void)?
    private var observers: [any NSObjectProtocol] = []

    package init(_ context: NSManagedObjectContext) {
        let names: [(Notification.Name, String)] = [
            (.NSManagedObjectContextObjectsDidChange, "didChange"),
            (.NSManagedObjectContextWillSave, "willSave:"),
            (.NSManagedObjectContextDidSave, "didSave:"),
        ]
        let log = Weak(self)
        for (name, short) in names {
            observers.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                    log.object?.note(short, $0.userInfo ?? [:])
                })
        }
    }

    deinit { observers.forEach { NotificationCenter.default.removeObserver($0) } }

    private func note(_ name: String, _ info: [AnyHashable: Any]) {
        entries.append((name, info))
        onEach?(name)
    }

    package func objects(_ place: Int, _ key: String) -> Set<NSManagedObject> {
        entries[place].info[key] as? Set<NSManagedObject> ?? []
    }

    package func clear() { entries = [] }

    private final class Weak: @unchecked Sendable {
        weak var object: NotificationLog?
        init(_ object: NotificationLog) { self.object = object }
    }
}
