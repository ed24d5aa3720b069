// The expressions that mapping models are made of.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The expressions that mapping models are made of.
enum SourceExpression {
    private static let source = NSExpression(forVariable: NSMigrationSourceObjectKey)
    private static let manager = NSExpression(forVariable: NSMigrationManagerKey)

    /// `$source.name`
    static func value(_ path: String) -> NSExpression {
        NSExpression(path: path.split(separator: ".", omittingEmptySubsequences: false).map(String.init), of: source)
    }

    /// All objects of an entity, without those of its subentities, or those that satisfy a predicate.
    static func all(of entity: String, _ predicate: String = "TRUEPREDICATE") -> NSExpression {
        let request = NSExpression(
            forFunction: manager, selectorName: ManagerFunction.request.rawValue,
            arguments: [NSExpression(forConstantValue: entity), NSExpression(forConstantValue: predicate)])
        return NSExpression(
            fetch: request, context: NSExpression(path: ["sourceContext"], of: manager), countOnly: false)
    }

    /// What became of the members of a relationship, whichever mapping they went through.
    static func members(of relationship: String) -> NSExpression {
        NSExpression(
            forFunction: manager, selectorName: ManagerFunction.related.rawValue,
            arguments: [NSExpression(forConstantValue: relationship), value(relationship)])
    }

    /// What one mapping made of the objects at a key path of the source; of the source itself for nil.
    static func instances(of mapping: String, at path: String?) -> NSExpression {
        NSExpression(
            forFunction: manager, selectorName: ManagerFunction.destinations.rawValue,
            arguments: [NSExpression(forConstantValue: mapping), path.map(value) ?? source])
    }
}
