// What value expressions can call.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// What `FUNCTION($manager, …)` calls, by its documented name.
enum ManagerFunction: String, CaseIterable {
    case destinations = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    case sources = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    case related = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    case request = "fetchRequestForSourceEntityNamed:predicateString:"
    case fullRequest = "fetchRequestForSourceEntityNamed:predicateString:includesSubentities:"
    case sourceEntity = "sourceEntityForEntityMapping:"
    case destinationEntity = "destinationEntityForEntityMapping:"
    case associate = "associateSourceInstance:withDestinationInstance:forEntityMapping:"

    var argumentCount: Int { rawValue.utf8.count { $0 == UInt8(ascii: ":") } }

    /// - Throws: 134110 for arguments that mean nothing.
    func call(_ arguments: [Any?], _ run: MigrationRun) throws -> Any? {
        switch self {
        case .destinations:
            return try run.destinationObjects(in: run.table(named: text(arguments[0])), of: objects(arguments[1]))
        case .sources:
            return try run.table(named: text(arguments[0])).sources(of: objects(arguments[1])).map(run.sourceObject)
        case .related: return try run.related(by: text(arguments[0]), objects(arguments[1]))
        case .request: return try run.request(for: text(arguments[0]), text(arguments[1]), includesSubentities: false)
        case .fullRequest:
            return try run.request(
                for: text(arguments[0]), text(arguments[1]),
                includesSubentities: (arguments[2] as? NSNumber)?.boolValue ?? (arguments[2] as? Bool) ?? false)
        case .sourceEntity: return run.manager.sourceEntity(for: try mapping(arguments[0]))
        case .destinationEntity: return run.manager.destinationEntity(for: try mapping(arguments[0]))
        case .associate:
            guard let source = try objects(arguments[0]).first, let destination = try objects(arguments[1]).first else {
                throw wrong("two objects")
            }
            run.manager.associate(
                sourceInstance: source, withDestinationInstance: destination, for: try mapping(arguments[2]))
            return nil
        }
    }

    private func wrong(_ what: String) -> CocoaError {
        CocoaError.coreData(134110, "FUNCTION($manager, '\(rawValue)') needs \(what).")
    }

    private func text(_ argument: Any?) throws -> String {
        guard case .text(let text)? = Value(any: argument) else { throw wrong("a text") }
        return text
    }

    private func mapping(_ argument: Any?) throws -> NSEntityMapping {
        guard let mapping = argument as? NSEntityMapping else { throw wrong("an entity mapping") }
        return mapping
    }

    private func objects(_ argument: Any?) throws -> [NSManagedObject] {
        guard let objects = MappingValue.objects(argument) else { throw wrong("managed objects") }
        return objects
    }
}
