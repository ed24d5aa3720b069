// Who is told of unexpected faults in a context.

import CoreDataValues
import Foundation

/// Who is told of unexpected faults in a context.
final class FaultWatch {
    var refusesAll = false
    /// Whether faults of any object are told.
    var tellsAll: Bool { refusesAll || !blocks.isEmpty }
    /// Whether it matters how any object is reached.
    var traces: Bool { tellsAll || repeatHandler != nil || report != nil }
    /// Collects the faults of a request.
    var report: FaultReport?
    var handler: ((UnexpectedFault) -> Void)?
    /// Told of faults that are read one by one.
    var repeatHandler: ((RepeatedFaults) -> Void)?
    private var counts = FaultCounts()
    /// What the running blocks of `withoutFaulting` have found, the innermost last.
    var blocks: [[UnexpectedFault]] = []
    /// How objects were reached of which something may be told.
    private var paths: [ObjectKey: FaultPath] = [:]
    private var starts: [String: FaultPath] = [:]

    /// The way to an object; one that was not reached from another is where it begins.
    func path(to object: NSManagedObject) -> FaultPath {
        pathFollowed(to: object) ?? start(at: object._state.info.entity.name)
    }

    /// The way by which an object was reached from another.
    func pathFollowed(to object: NSManagedObject) -> FaultPath? {
        object._state.has(.placed) ? paths[object._state.key] : nil
    }

    private func start(at entity: String) -> FaultPath {
        if let known = starts[entity] { return known }
        let made = FaultPath(entity: entity)
        starts[entity] = made
        return made
    }

    /// Notes by which relationship an object was reached. A way that gets too long begins anew.
    func note(_ object: NSManagedObject, from source: NSManagedObject, by relationship: String) {
        use(source)
        let way = path(to: source)
        let first = way.isLong ? start(at: source._state.info.entity.name) : way
        object._state.set(.placed)
        paths[object._state.key] = first.step(relationship)
    }

    /// The program reads an object; if nothing has led to it, a path begins there.
    func use(_ object: NSManagedObject) {
        if !object._state.has(.placed) { begin(at: object) }
    }

    /// A request has found an object itself.
    func begin(at object: NSManagedObject) {
        object._state.set(.placed)
        paths[object._state.key] = nil
    }

    func forgetPaths() { paths = [:] }

    /// Objects were fetched.
    func beginCounting(from objects: [NSManagedObject]) {
        guard repeatHandler != nil, let first = objects.first else { return }
        counts.begin(at: first._state.info.entity.name)
    }

    func count(_ fault: UnexpectedFault) {
        if let repeated = counts.add(fault) { repeatHandler?(repeated) }
    }

    func tell(_ fault: UnexpectedFault) {
        handler?(fault)
        if !blocks.isEmpty {
            blocks[blocks.count - 1].append(fault)
        } else if handler == nil {
            warn("\(fault)")
        }
    }
}
