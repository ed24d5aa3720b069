// A model before it is checked: what a model file or a program declares, in any order.

/// One entity as declared, with its own properties only.
package struct EntityDraft: Sendable, Codable, Equatable {
    package var name: String
    /// nil for `NSManagedObject`. A leading dot means "the current product module".
    package var className: String?
    package var parentName: String?
    package var isAbstract = false
    package var attributes: [Attribute] = []
    package var relationships: [Relationship] = []
    package var fetchedProperties: [FetchedProperty] = []
    package var indexes: [FetchIndex] = []
    /// Each constraint is a list of attribute names, in declared order.
    package var uniquenessConstraints: [[String]] = []
    /// Where each constraint was declared, by the same positions; empty for a model made in code.
    package var constraintLocations: [SourceLocation] = []
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var codeGeneration: String?
    package var userInfo: [String: String] = [:]
    package var location: SourceLocation?

    package init(name: String) { self.name = name }
}

/// A whole model as declared. `Schema(checking:)` turns it into a schema or says what contradicts what.
package struct SchemaDraft: Sendable, Codable {
    package var entities: [EntityDraft] = []
    package var composites: [Composite] = []
    package var fetchTemplates: [FetchTemplate] = []
    /// Entity names by configuration, without the default configuration, which holds all.
    package var configurations: [String: [String]] = [:]
    /// Where each configuration was declared; empty for a model made in code.
    package var configurationLocations: [String: SourceLocation] = [:]
    /// The configurations that the model means for CloudKit; kept for tools, without effect on a store.
    package var cloudKitConfigurations: [String] = []
    package var versionIdentifiers: [String] = []
    /// `Swift` or `Objective-C`: what Xcode would generate.
    package var sourceLanguage: String?
    package var usedWithCloudKit = false
    package var location: SourceLocation?
    /// What was tolerated when the draft was read.
    package var warnings: [SchemaWarning] = []
    /// Where the other versions of the model are; nil for a model made in code or from an archive.
    package var versions: (any SchemaVersions)?

    private enum CodingKeys: CodingKey {
        case entities, composites, fetchTemplates, configurations, configurationLocations, cloudKitConfigurations
        case versionIdentifiers, sourceLanguage, usedWithCloudKit, location, warnings
    }

    package init() {}
}

/// A model that cannot be: what is wrong, where, and with which entity and property.
package struct SchemaError: Error, Sendable, Equatable, CustomStringConvertible {
    package var message: String
    package var entity: String?
    package var property: String?
    package var location: SourceLocation?

    package init(
        _ message: String, entity: String? = nil, property: String? = nil, location: SourceLocation? = nil
    ) {
        self.message = message
        self.entity = entity
        self.property = property
        self.location = location
    }

    /// `PATH:LINE:COLUMN: error: TEXT`, the form compilers use, or the bare text for a model made in code.
    package var description: String {
        guard let location else { return message }
        return "\(location.path):\(location.line):\(location.column): error: \(message)"
    }
}

/// Something in a model that is tolerated, with what is made of it: nothing is ignored in silence.
package struct SchemaWarning: Sendable, Equatable, Codable, CustomStringConvertible {
    package var message: String
    package var entity: String?
    package var property: String?
    package var location: SourceLocation?
    /// Whether it is told when the model is loaded, as the model may not mean what the program thinks.
    package var isTold = false

    private enum CodingKeys: CodingKey { case message, entity, property, location }

    package init(
        _ message: String, entity: String? = nil, property: String? = nil, location: SourceLocation? = nil
    ) {
        self.message = message
        self.entity = entity
        self.property = property
        self.location = location
    }

    /// `PATH:LINE:COLUMN: warning: TEXT`, or the bare text for a model made in code.
    package var description: String {
        guard let location else { return message }
        return "\(location.path):\(location.line):\(location.column): warning: \(message)"
    }
}
