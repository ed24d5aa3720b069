// What a migration will do to a store, before it does it.

import CoreDataValues
import Foundation

/// The way of a store to a later version of its model, step by step.
///
/// It is made without touching the store (`migrationPlan(at:toVersionsOf:)`), tried on a copy (`rehearse()`) and carried out (`run()`). Ours, beside Core
/// Data's API.
public struct StoreMigrationPlan {
    /// From one version to the next.
    public struct Step: Sendable, Encodable {
        public enum Kind: String, Sendable, Encodable {
            /// What the models tell.
            case inferred
            /// A mapping model with value expressions.
            case mapping
            /// A mapping model with policies of the program.
            case custom
        }
        public let from: String
        public let to: String
        public let kind: Kind
        /// What happens to every entity and property, also where that is nothing.
        public let changes: [Change]
        /// What changes tables, rows and indexes of a SQLite store; for a mapping model nothing, since objects are made. Not among them is what
        /// hangs on the file's content alone: entities get their numbers, the history moves, the metadata is written, views and triggers of
        /// the program's own are set aside and put back, and a clean-up that was put off is done first.
        public let sql: [String]
        /// How many of the store's objects are written anew.
        public let rows: Int
    }

    /// What happens to an entity or a property.
    public struct Change: Sendable, Hashable, Encodable {
        public let entity: String
        /// nil for the entity itself.
        public let property: String?
        public let change: String
    }

    /// What the store has and nothing in the last version comes from, or no mapping chooses. What a policy leaves out is not known.
    public struct Loss: Sendable, Hashable, Encodable {
        public let entity: String
        /// nil for the objects of an entity.
        public let property: String?
        /// How many objects of the entity there are, or have a value; of a relationship that goes on, how many members it loses.
        public let rows: Int
    }

    /// What keeps a step from running, or an object from fitting the last version.
    public struct Finding: Sendable, Hashable, Encodable, CustomStringConvertible {
        public let severity: String
        public let entity: String?
        public let property: String?
        public let message: String
        /// The store's.
        public let file: String
        /// The URI of an object.
        public let id: String?

        init(_ message: String, entity: String? = nil, property: String? = nil, file: String, id: String? = nil) {
            (severity, self.entity, self.property, self.message, self.file, self.id) = (
                "error", entity, property, message, file, id
            )
        }

        public var description: String { "\(file): \(severity): \(message)\(id.map { " (\($0))" } ?? "")" }
    }

    /// None for a store that has the last version.
    public let steps: [Step]
    public let lost: [Loss]
    /// What would keep a step from running: a policy, a function of one or a value transformer that the program has not, or a mapping model that
    /// does not fit. Empty for a plan that can be carried out.
    public let findings: [Finding]

    let migration: ChainMigration
}

extension StoreMigrationPlan: Encodable {
    private enum CodingKeys: CodingKey { case steps, lost, findings }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(steps, forKey: .steps)
        try container.encode(lost, forKey: .lost)
        try container.encode(findings, forKey: .findings)
    }
}

extension StoreMigrationPlan {
    /// Carries the plan out. Each step is a transaction: whatever fails, the store has one version or another.
    ///
    /// - Parameters:
    ///   - backup: where the store is copied to before the first step, also where the plan has none; no file may be there.
    ///   - progress: called before each step, at every thousand objects of one that makes objects, and after the last, with the number of
    ///     steps that are done and what is done of the next: 1.25 is a quarter of the second.
    /// - Throws: 134110 for a plan with findings; 134030 and 134100 where there can be no backup, or none of the version that the plan
    ///   begins with, since the store was migrated meanwhile; what a step throws, which the error names.
    public func run(backup: URL? = nil, progress: (_ done: Double) -> Void = { _ in }) throws {
        if let finding = findings.first { throw CocoaError.coreData(134110, finding.message) }
        if let backup { try migration.copy(to: backup) }
        for number in steps.indices {
            try migration.perform(number, progress)
        }
        progress(Double(steps.count))
    }
}
