// A value expression of a mapping, taken apart once and evaluated for every object.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// What a value expression means; made by `MappingCompiler`.
indirect enum MappingValue {
    case constant(Any?)
    case variable(MappingVariable)
    case path(MappingValue, String)
    case manager(ManagerFunction, [MappingValue])
    case policy(NSEntityMigrationPolicy.Function, [MappingValue])
    case fetch(request: MappingValue, context: MappingValue, countOnly: MappingValue)
    /// What the language of expressions itself computes.
    case expression(MappingExpression)
}

/// For whom a value expression is evaluated.
struct MappingScope {
    let run: MigrationRun
    let step: MappingStep
    var property: NSPropertyMapping?
    var source: NSManagedObject?
    var destination: NSManagedObject?
    /// Whether the values of the source may be read from the slots that the source entity has.
    var readsSlots = false
}

extension MappingValue {
    /// - Throws: what functions of policies throw, and what fetching throws.
    func value(in scope: MappingScope) throws -> Any? {
        switch self {
        case .constant(let value): return value
        case .variable(.manager): return scope.run.manager
        case .variable(.source): return scope.source
        case .variable(.destination): return scope.destination
        case .variable(.entityMapping): return scope.step.mapping
        case .variable(.propertyMapping): return scope.property
        case .variable(.entityPolicy): return scope.step.policy
        case .path(let target, let path):
            return try KeyValue.value(of: target.value(in: scope), forKeyPath: path, unknown: .isNil)
        case .manager(let function, let arguments):
            return try function.call(arguments.map { try $0.value(in: scope) }, scope.run)
        case .policy(let function, let arguments):
            return try function(scope.step.policy, arguments.map { try $0.value(in: scope) })
        case .fetch(let request, let context, let countOnly):
            let context = try context.value(in: scope) as? NSManagedObjectContext ?? scope.run.manager.sourceContext
            let count = try countOnly.value(in: scope)
            guard let request = try request.value(in: scope),
                let results = try context.results(
                    of: request, isCount: (count as? Bool) ?? (count as? NSNumber)?.boolValue ?? false)
            else {
                throw CocoaError.coreData(134110, "FETCH in the mapping \(scope.step.name) was given no fetch request.")
            }
            return results
        case .expression(let expression): return try expression.value(in: scope)
        }
    }

    /// The objects of a value: one, those of a collection, none of nil. nil for anything else.
    static func objects(_ value: Any?) -> [NSManagedObject]? {
        if let object = value as? NSManagedObject { return [object] }
        // What functions of the manager answer.
        if let objects = value as? [NSManagedObject] { return objects }
        if let collection = value as? any ManagedObjectCollection { return Array(collection.managedObjects) }
        guard let value = KeyValue.unwrapped(value) else { return [] }
        let members: [Any]
        switch value {
        case let set as NSSet: members = set.allObjects
        case let set as NSOrderedSet: members = set.array
        case let array as [Any]: members = array
        default: return nil
        }
        var objects: [NSManagedObject] = []
        for member in members {
            guard let object = member as? NSManagedObject else { return nil }
            objects.append(object)
        }
        return objects
    }
}
