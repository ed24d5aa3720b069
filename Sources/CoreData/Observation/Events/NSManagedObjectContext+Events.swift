// What contexts tell those who observe their coordinator. Nothing here runs while nobody does.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Nanoseconds of a clock, 0 while nobody in the process observes.
    @inline(__always)
    final var observedTime: UInt64 { coredata_is_observed() ? DispatchTime.now().uptimeNanoseconds : 0 }

    private final var observersListening: Observers? {
        persistentStoreCoordinator.flatMap { $0.observers.isListening ? $0.observers : nil }
    }

    private static func passed(since start: UInt64) -> Duration {
        .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds &- start))
    }

    // MARK: Fetches

    @inline(never)
    final func observed<T>(_ request: NSFetchRequest<T>, _ body: () throws -> [T]) throws -> [T] {
        let kind: CoreDataEvent.Fetch.Kind =
            switch request.resultType {
            case .managedObjectIDResultType: .objectIDs
            case .countResultType: .count
            case .dictionaryResultType: .dictionaries
            default: .objects
            }
        return try observed(request, kind, body) { found in
            kind == .count ? (found.first as? NSNumber)?.intValue ?? 0 : found.count
        }
    }

    @inline(never)
    final func observedCount<T>(_ request: NSFetchRequest<T>, _ body: () throws -> Int) throws -> Int {
        try observed(request, .count, body) { $0 }
    }

    final func observedDictionaries<T>(
        _ request: NSFetchRequest<T>, _ body: () throws -> [[String: Any]]
    ) throws -> [[String: Any]] {
        try observed(request, .dictionaries, body, count: \.count)
    }

    private final func observed<T, Answer>(
        _ request: NSFetchRequest<T>, _ kind: CoreDataEvent.Fetch.Kind, _ body: () throws -> Answer,
        count: (Answer) -> Int
    ) throws -> Answer {
        guard let observers = observersListening else { return try body() }
        let start = DispatchTime.now().uptimeNanoseconds
        let result = Result { try body() }
        let (results, error): (Int, (any Error)?) =
            switch result {
            case .success(let answer): (count(answer), nil)
            case .failure(let error): (0, error)
            }
        // A request that names no entity is for that of its objects' class.
        let entityName =
            request.entityName ?? (T.self as? NSManagedObject.Type).flatMap { runtime.info(for: $0)?.entity.name }
        observers.tell(
            .fetch(
                CoreDataEvent.Fetch(
                    entityName: entityName ?? "", kind: kind, results: results,
                    duration: Self.passed(since: start), contextName: name, error: error)))
        return try result.get()
    }

    // MARK: Saves

    @inline(never)
    final func runObserved(_ operation: inout SaveOperation) throws {
        guard let observers = observersListening else { return try operation.run() }
        let start = DispatchTime.now().uptimeNanoseconds
        let result: Result<Void, any Error>
        do { result = .success(try operation.run()) } catch { result = .failure(error) }
        let error: (any Error)? = if case .failure(let error) = result { error } else { nil }
        observers.tell(
            .save(
                CoreDataEvent.Save(
                    inserted: operation.inserted.count, updated: operation.updated.count,
                    deleted: operation.deleted.count,
                    duration: Self.passed(since: start), contextName: name, isToParent: parent != nil, error: error)))
        try result.get()
    }

    // MARK: Faults

    @inline(never)
    final func tellCacheHit(_ key: ObjectKey) { tell(key.entity, nil, count: 1, isFromCache: true, .zero) }

    @inline(never)
    final func tellFault(of key: ObjectKey, rows: Int, since start: UInt64) {
        tell(key.entity, nil, count: rows, isFromCache: false, Self.passed(since: start))
    }

    @inline(never)
    final func tellFault(of owner: NSManagedObject, toMany index: Int, _ members: ToMany, since start: UInt64) {
        tell(
            owner._state.info.entity.index, owner.relationship(toMany: index).name, count: members.base.count,
            isFromCache: false,
            Self.passed(since: start))
    }

    private final func tell(
        _ entity: EntityIndex, _ relationship: String?, count: Int, isFromCache: Bool, _ duration: Duration
    ) {
        guard let observers = observersListening else { return }
        observers.tell(
            .faults(
                CoreDataEvent.Faults(
                    entityName: runtime.infos[entity.value].entity.name, relationshipName: relationship, count: count,
                    isFromCache: isFromCache, duration: duration, contextName: name)))
    }
}

extension ToMany.Base {
    fileprivate var count: Int {
        switch self {
        case .fault: 0
        case .rows(let batches): batches.reduce(0) { $0 + $1.count }
        case .slices(let slices): slices.count
        case .keys(let keys): keys.count
        }
    }
}
