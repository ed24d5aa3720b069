// Reports unexpected faults in a context.

import CoreDataValues
import Foundation

/// Reports unexpected faults in a context, and follows the relationships that lead to them.
final class FaultWatch {
    var refusesAll = false
    /// Whether the faults of all objects are reported.
    var tellsAll: Bool { refusesAll || !blocks.isEmpty }
    /// Whether the paths to all objects have to be followed.
    var traces: Bool { tellsAll || repeatHandler != nil || report != nil }
    /// Collects the faults of one request.
    var report: FaultReport?
    var handler: ((UnexpectedFault) -> Void)?
    /// Called with faults that were read one by one.
    var repeatHandler: ((RepeatedFaults) -> Void)?
    private var counts = FaultCounts()
    /// The faults in the running blocks of `withoutFaulting`, the innermost last.
    var blocks: [[UnexpectedFault]] = []
    /// The paths to traced or watched objects.
    private var paths: [ObjectKey: RelationshipTrace] = [:]
    private var starts: [String: RelationshipTrace] = [:]

    /// The path to an object; it starts at the object if no relationship led to it.
    func path(to object: NSManagedObject) -> RelationshipTrace {
        pathFollowed(to: object) ?? start(at: object._state.info.entity.name)
    }

    /// The path from another object by which an object was reached.
    func pathFollowed(to object: NSManagedObject) -> RelationshipTrace? {
        object._state.has(.pathKnown) ? paths[object._state.key] : nil
    }

    private func start(at entity: String) -> RelationshipTrace {
        if let known = starts[entity] { return known }
        let made = RelationshipTrace(entity: entity)
        starts[entity] = made
        return made
    }

    /// Notes the relationship by which an object was reached. A path that gets too long starts again at the source.
    func note(_ object: NSManagedObject, from source: NSManagedObject, by relationship: String) {
        use(source)
        let way = path(to: source)
        let first = way.isLong ? start(at: source._state.info.entity.name) : way
        object._state.set(.pathKnown)
        paths[object._state.key] = first.step(relationship)
    }

    /// Starts a path at an object that the program reads, unless a path leads to it.
    func use(_ object: NSManagedObject) {
        if !object._state.has(.pathKnown) { begin(at: object) }
    }

    /// Starts a path at an object that a request returned.
    func begin(at object: NSManagedObject) {
        object._state.set(.pathKnown)
        paths[object._state.key] = nil
    }

    func forgetPaths() { paths = [:] }

    /// Resets the counts for the entity of fetched objects.
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
