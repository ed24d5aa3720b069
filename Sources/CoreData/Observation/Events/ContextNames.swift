// The names of contexts, for reports that are made on any thread.

import Synchronization

/// Names by context. A context's own property is touched on its queue only.
final class ContextNames: Sendable {
    static let shared = ContextNames()
    private let names = Mutex<[ObjectIdentifier: String]>([:])

    func note(_ name: String?, of context: NSManagedObjectContext) {
        names.withLock { $0[ObjectIdentifier(context)] = name }
    }

    func forget(_ context: NSManagedObjectContext) {
        let place = ObjectIdentifier(context)
        names.withLock { $0[place] = nil }
    }

    func name(of context: NSManagedObjectContext) -> String? { names.withLock { $0[ObjectIdentifier(context)] } }
}
