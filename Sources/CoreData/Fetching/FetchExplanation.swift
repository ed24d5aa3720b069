// Explains how a fetch would be executed.

import CoreDataValues
import Foundation

/// What a fetch asks of each store, and how the store finds it, as `explain(_:)` tells. The description is for people.
///
/// Ours, beside Core Data's API.
public struct FetchExplanation: Sendable, CustomStringConvertible {
    /// One store's part of a fetch.
    public struct Part: Sendable, CustomStringConvertible {
        public let storeIdentifier: String
        public let storeType: String
        /// The SQL statement; nil for a store without SQL.
        public let sql: String?
        /// The values bound to the statement, as text.
        public let bindings: [String]
        /// The steps of the database's query plan in its own words, inner ones indented.
        public let queryPlan: [String]
        /// The names of the indexes that are used, except those of primary keys.
        public let indexes: [String]
        /// Properties without an index that would save reading a whole table or sorting.
        public let missingIndexes: [MissingIndex]
        /// For a store without SQL how it finds the rows, else a summary of the plan, as a sentence.
        public let reading: String

        public var description: String {
            guard let sql else { return "\(storeType) store \(storeIdentifier): \(reading)" }
            var lines = ["\(storeType) store \(storeIdentifier): \(reading)", "  " + sql]
            if !bindings.isEmpty {
                lines.append("  with " + bindings.enumerated().map { "?\($0 + 1) = \($1)" }.joined(separator: ", "))
            }
            lines += queryPlan.map { "  - " + $0 }
            return lines.joined(separator: "\n")
        }
    }

    /// A property that an index would serve.
    public struct MissingIndex: Sendable, Hashable, CustomStringConvertible {
        public let entityName: String
        /// An attribute, an element of a composite, or a to-one.
        public let propertyName: String
        /// Whether the index would serve the order alone.
        public let isForOrder: Bool
        public var description: String { "\(entityName).\(propertyName)" }
    }

    public let entityName: String
    public let parts: [Part]
    /// How many unsaved objects are judged in memory and merged into the results.
    public let unsavedObjectCount: Int

    public var description: String {
        let unsaved = unsavedObjectCount > 0 ? ", with \(unsavedObjectCount) unsaved objects judged in memory" : ""
        return (["A fetch of \(entityName)\(unsaved):"] + parts.map(\.description)).joined(separator: "\n")
    }
}

extension NSManagedObjectContext {
    /// Explains how `fetch` would execute a request: statement, bound values, plan, and indexes used or missing.
    ///
    /// Reads no rows; a SQLite store is asked for its plan, which costs two or three small statements. The statements
    /// of prefetching and of `fetchBatchSize` are not explained.
    /// - Throws: what fetching would throw for the request.
    public final func explain<T>(_ request: NSFetchRequest<T>) throws -> FetchExplanation {
        checkQueue()
        let isValues = request.resultType == .dictionaryResultType
        let fetch = isValues ? try boundValues(request).fetch : try self.bound(request)
        do {
            let query =
                isValues
                ? try Query(valuesOf: fetch.plan, in: runtime.schema) : try Query(fetch.plan, in: runtime.schema)
            let parts = try link.storesBelow(for: fetch, self).map {
                try part(of: fetch, counts: request.resultType == .countResultType, $0)
            }
            return FetchExplanation(
                entityName: fetch.info.entity.name, parts: parts,
                unsavedObjectCount: isValues ? 0 : unsaved(of: query, fetch))
        } catch { throw CocoaError.reading(error) }
    }

    private func part(of fetch: BoundFetch, counts: Bool, _ store: NumberedStore) throws -> FetchExplanation.Part {
        let type = store.store.type
        guard let told = try store.rows.explanation(of: store.asked(fetch.plan), counts: counts, .latest) else {
            let reading =
                store.store is NSIncrementalStore
                ? "it is asked by execute(_:with:), and what it answers is judged row by row."
                : "all rows of \(fetch.info.entity.name) are in memory and judged one by one."
            return FetchExplanation.Part(
                storeIdentifier: store.store.identifier, storeType: type, sql: nil, bindings: [], queryPlan: [],
                indexes: [], missingIndexes: [],
                reading: reading)
        }
        let missing = told.missing.map { candidate in
            let entity = runtime.schema[candidate.entity]
            return FetchExplanation.MissingIndex(
                entityName: entity.name, propertyName: entity.slots[candidate.slot].name, isForOrder: candidate.isOrder)
        }
        return FetchExplanation.Part(
            storeIdentifier: store.store.identifier, storeType: type, sql: told.sql, bindings: told.bindings,
            queryPlan: told.steps,
            indexes: told.indexes, missingIndexes: missing, reading: FetchExplanation.reading(told.indexes, missing))
    }

    /// How many objects the overlays of this context and of those above it would judge.
    final func unsaved(of query: Query, _ fetch: BoundFetch) -> Int {
        guard fetch.includesPendingChanges else { return 0 }
        let own = tracker.dirty.count {
            $0._state.has(.dirty) && query.bound.reach.includes($0._state.info.entity.index)
        }
        return own + link.unsavedAbove(of: query, fetch, self)
    }
}

extension FetchExplanation {
    fileprivate static func reading(_ indexes: [String], _ missing: [MissingIndex]) -> String {
        let used = indexes.isEmpty ? "no index is used" : "uses " + indexes.joined(separator: ", ")
        guard !missing.isEmpty else { return used + "." }
        return used + "; an index on " + missing.map(\.description).joined(separator: " or on ") + " is missing."
    }
}
