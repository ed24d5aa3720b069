// Fetches dictionaries: the stored values, without objects.

import CCoreDataRuntime
import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Returns the dictionaries of a request as Swift's own, whatever its `resultType`: the same keys and values as `fetch` with
    /// `.dictionaryResultType`, of which Foundation's dictionaries are the greater part of the price.
    ///
    /// Runs one statement for each store. A null value has no entry. Unsaved changes are left out, as they are of all dictionaries.
    /// - Throws: an error of the Cocoa domain; 134060 for properties that cannot be fetched.
    public final func fetchDictionaries<T>(_ request: NSFetchRequest<T>) throws -> [[String: Any]] {
        checkQueue()
        try faulting.throwReadError()
        func found() throws -> [[String: Any]] { try dictionaries(request) { try $0.values($1, row: $2) } }
        return coredata_is_observed() ? try observedDictionaries(request, found) : try found()
    }

    /// Returns the dictionaries of a request: stored values, without unsaved changes (8.3).
    @inline(never)
    final func dictionaries<T>(_ request: NSFetchRequest<T>) throws -> [NSDictionary] {
        try dictionaries(request) { try $0.dictionary($1, row: $2) }
    }

    @inline(__always)
    private func dictionaries<T, Made>(
        _ request: NSFetchRequest<T>, _ make: (DictionaryMaker, ValueRows, Int) throws -> Made
    ) throws -> [Made] {
        let (fetch, form) = try boundValues(request)
        var found: [Made] = []
        try readValues(fetch) { rows, store in
            let maker = DictionaryMaker(form, self, store: store, rows.columns)
            for row in 0..<rows.count { found.append(try make(maker, rows, row)) }
            fetchProgress?.add(rows.count)
        }
        return found
    }

    /// Counts the dictionaries of a request.
    @inline(never)
    final func countOfDictionaries<T>(_ request: NSFetchRequest<T>) throws -> Int {
        let fetch = try boundValues(request).fetch
        var count = 0
        try readValues(fetch) { rows, _ in count += rows.count }
        return count
    }

    /// Refuses invalid `propertiesToFetch`, and any grouping, for a fetch of objects, which reads whole rows.
    @inline(never)
    final func checkProperties<T>(of request: NSFetchRequest<T>) throws {
        guard request.propertiesToGroupBy?.isEmpty ?? true else {
            throw CocoaError.coreData(
                134060,
                "A fetch of \(request.entityName ?? "") groups by properties and does not want dictionaries; set resultType to "
                    + ".dictionaryResultType.")
        }
        guard let properties = request.propertiesToFetch, !properties.isEmpty else { return }
        let fetch = try bound(request)
        let form = try DictionaryForm(properties, fetch.info, self)
        do {
            var plan = FetchPlan(entity: fetch.plan.entity)
            plan.projection = .values(ValueProjection(form.columns))
            _ = try Query(valuesOf: plan, in: runtime.schema)
        } catch { throw CocoaError.reading(error) }
    }

    /// Converts a request for dictionaries to the columns that stores are asked for.
    final func boundValues<T>(_ request: NSFetchRequest<T>) throws -> (fetch: BoundFetch, form: DictionaryForm) {
        var fetch = try bound(request)
        let properties = request.propertiesToFetch.flatMap { $0.isEmpty ? nil : $0 }
        let form = try DictionaryForm(properties, fetch.info, self)
        let grouping = try DictionaryForm(request.propertiesToGroupBy ?? [], fetch.info, self)
        let having = try request.havingPredicate.map { try bridge($0) }
        fetch.plan.projection = .values(
            ValueProjection(
                form.columns, grouping: grouping.columns.map(\.expression), having: having,
                isDistinct: request.returnsDistinctResults))
        do {
            try form.check(try Query(valuesOf: fetch.plan, in: runtime.schema))
        } catch { throw CocoaError.reading(error) }
        return (fetch, form)
    }

    /// Reads the stored values in batches, with the number of the store if there is only one.
    func readValues(_ fetch: BoundFetch, _ receive: (ValueRows, UInt16) throws -> Void) throws {
        let stores = link.storesBelow(for: fetch, self)
        do {
            let values = try ValueReading.open(
                fetch.plan, .latest, of: stores.map { ($0.rows, $0.asked(fetch.plan).predicate) }, in: runtime.schema)
            while let rows = try values.next() { try receive(rows, stores.count == 1 ? stores[0].number : 0) }
        } catch { throw CocoaError.reading(error) }
    }
}

extension DictionaryForm {
    /// Refuses a declared type to which the values of an expression cannot be converted.
    fileprivate func check(_ query: Query) throws {
        guard let projection = query.bound.projection else { return }
        for (name, entry) in entries {
            guard case .column(let place, let type) = entry, !type.holds(projection.columns[place].type) else {
                continue
            }
            throw CocoaError.coreData(
                134060,
                "The expression “\(name)” of a fetch of \(entity.name) says that it results in \(type.schemaType.modelName), and its values "
                    + "are \(projection.columns[place].type.words). Correct its expressionResultType.")
        }
    }
}
