// The relationships that lead from the objects of an entity to a fault.

import CoreDataValues
import Foundation

/// The relationships that lead from the objects of an entity to a fault.
final class RelationshipTrace {
    let entity: String
    private let names: [String]
    private var steps: [String: RelationshipTrace] = [:]

    init(entity: String, names: [String] = []) {
        self.entity = entity
        self.names = names
    }

    var keyPath: String { names.joined(separator: ".") }
    /// Whether the path is longer than anyone would prefetch: a chain of objects may have any length.
    var isLong: Bool { names.count >= 8 }

    func step(_ name: String) -> RelationshipTrace {
        if let known = steps[name] { return known }
        let made = RelationshipTrace(entity: entity, names: names + [name])
        steps[name] = made
        return made
    }
}
