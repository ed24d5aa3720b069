// Values of a class's objects without the objects: aggregates and columns.

import CoreDataFoundation
import CoreDataValues
import enum CoreDataValues.Expression
import Foundation

extension ManagedObjectQueries {
    /// The average of a property over the objects for which a predicate holds; nil where none has a value.
    ///
    /// Aggregates and columns read what the stores hold: unsaved changes do not count.
    public static func average<V>(
        of property: KeyPath<Self, V>, where predicate: NSPredicate? = nil, in context: NSManagedObjectContext? = nil
    ) throws -> Double? { try aggregate("average:", property, predicate, context, as: Double?.self) }

    /// The sum of a property over the objects for which a predicate holds; 0 of none.
    public static func sum<V: AdditiveArithmetic>(
        of property: KeyPath<Self, V>, where predicate: NSPredicate? = nil, in context: NSManagedObjectContext? = nil
    ) throws -> V { try sum(property, predicate, context) }

    public static func sum<V: AdditiveArithmetic>(
        of property: KeyPath<Self, V?>, where predicate: NSPredicate? = nil, in context: NSManagedObjectContext? = nil
    ) throws -> V { try sum(property, predicate, context) }

    private static func sum<V: AdditiveArithmetic>(
        _ property: AnyKeyPath, _ predicate: NSPredicate?, _ context: NSManagedObjectContext?
    ) throws -> V {
        guard V.self == Float.self else {
            return try aggregate("sum:", property, predicate, context, as: V?.self) ?? .zero
        }
        // Floats are summed as doubles, and the sum is rarely a Float.
        let sum = try aggregate("sum:", property, predicate, context, as: Double?.self)
        return sum.flatMap { Float($0) as? V } ?? .zero
    }

    /// The least value of a property; nil where none has a value. (`min` would hide Swift's function from the classes of programs.)
    public static func minimum<V>(
        of property: KeyPath<Self, V>, where predicate: NSPredicate? = nil, in context: NSManagedObjectContext? = nil
    ) throws -> V? { try aggregate("min:", property, predicate, context, as: V?.self) }

    public static func minimum<V>(
        of property: KeyPath<Self, V?>, where predicate: NSPredicate? = nil, in context: NSManagedObjectContext? = nil
    ) throws -> V? { try aggregate("min:", property, predicate, context, as: V?.self) }

    /// The greatest value of a property; nil where none has a value.
    public static func maximum<V>(
        of property: KeyPath<Self, V>, where predicate: NSPredicate? = nil, in context: NSManagedObjectContext? = nil
    ) throws -> V? { try aggregate("max:", property, predicate, context, as: V?.self) }

    public static func maximum<V>(
        of property: KeyPath<Self, V?>, where predicate: NSPredicate? = nil, in context: NSManagedObjectContext? = nil
    ) throws -> V? { try aggregate("max:", property, predicate, context, as: V?.self) }

    private static func aggregate<V>(
        _ function: String, _ property: AnyKeyPath, _ predicate: NSPredicate?, _ context: NSManagedObjectContext?,
        as type: V.Type
    ) throws -> V {
        let column = ColumnReader<V>.made(at: 0, named: function)
        try NSManagedObjectContext.asked(context, for: self).readValues(of: self, predicate, []) { path in
            [.init("value", .function(function, [.keyPath(try path(property))]))]
        } _: { rows, id in
            try column.consume(rows, id)
        }
        guard let value = column.values.first else {
            throw CocoaError.coreData(134060, "An aggregate of \(self) gave no row.")
        }
        return value
    }

    /// Columns of properties and the IDs of their objects, each an array as long as the others; no object is made.
    ///
    /// `let (ids, (names, ages)) = try Casualty.columns(of: \.name, \.age, sortedBy: [SortDescriptor(\.age)])`. The type of a property is
    /// that of its column; nil in the store is what the getter makes of nil, which is asked once. Objects come as IDs:
    /// `\.ward?.objectID`.
    /// - Throws: what the fetch throws; 134060 for a value that is not of the property's type, naming the property, and for an entity of
    ///   several stores.
    public static func columns<each V>(
        of properties: repeat KeyPath<Self, each V>, where predicate: NSPredicate? = nil,
        sortedBy order: [SortDescriptor<Self>] = [],
        limit: Int = 0, in context: NSManagedObjectContext? = nil
    ) throws -> (ids: [NSManagedObjectID], values: (repeat [each V])) {
        let context = NSManagedObjectContext.asked(context, for: self)
        var paths: [AnyKeyPath] = []
        for property in repeat each properties { paths.append(property) }
        var place = 0
        func next<T>(_ property: KeyPath<Self, T>) -> ColumnReader<T> {
            place += 1
            let reader = ColumnReader<T>.made(
                at: place, named: (try? Self.keys(of: property))?.joined(separator: ".") ?? "\(property)")
            reader.getterOfNil = { KeyPathNames.valueOfNil(property, on: self, context) }
            return reader
        }
        let readers = (repeat next(each properties))
        var consumers: [ColumnConsumer] = []
        for reader in repeat each readers { consumers.append(reader) }
        var ids: [NSManagedObjectID] = []
        try context.readValues(of: self, predicate, order.map { NSSortDescriptor($0) }, limit: limit) { path in
            var columns = [ValueProjection.Column("objectID", .this)]
            for keyPath in paths { columns.append(.init("value\(columns.count)", .keyPath(try path(keyPath)))) }
            return columns
        } _: { rows, id in
            for row in 0..<rows.count { if let id = id(rows.value(row: row, column: 0)) { ids.append(id) } }
            for consumer in consumers { try consumer.consume(rows, id) }
        }
        return (ids, (repeat (each readers).values))
    }
}

extension NSManagedObjectContext {
    /// Reads columns of values from the stores, batch by batch.
    ///
    /// - Parameter columns: what to read, given what tells the keys of a key path.
    /// - Parameter take: gets the rows and what makes an ID of a key.
    fileprivate final func readValues<T: NSManagedObject>(
        of type: T.Type, _ predicate: NSPredicate?, _ order: [NSSortDescriptor], limit: Int = 0,
        _ columns: ((AnyKeyPath) throws -> [String]) throws -> [ValueProjection.Column],
        _ take: (ValueRows, (Value) -> NSManagedObjectID?) throws -> Void
    ) throws {
        checkQueue()
        let request = NSFetchRequest<T>()
        request.predicate = predicate
        request.sortDescriptors = order
        request.fetchLimit = limit
        var fetch = try self.bound(request)
        let (info, runtime, identities) = (fetch.info, runtime, identities)
        do {
            fetch.plan.projection = .values(
                ValueProjection(try columns { try KeyPathNames.keys(of: $0, in: info, runtime) }))
        } catch { throw CocoaError.coreData(134060, "Values of \(info.entity.name) cannot be read: \(error)") }
        try readValues(fetch) { rows, store in
            try take(rows) { value in
                guard case .key(let key) = value else { return nil }
                return NSManagedObjectID(
                    key: ObjectKey(number: key.number, entity: key.entity, store: store), identity: identities,
                    info: runtime.infos[key.entity.value])
            }
        }
    }
}
