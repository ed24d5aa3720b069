// What a model says of one relationship or fetched property.

/// What happens to the destination when the source is deleted; the numbers are Core Data's.
package enum DeleteRule: UInt8, Sendable, Codable {
    case noAction = 0
    case nullify = 1
    case cascade = 2
    case deny = 3
}

/// One relationship as declared.
package struct Relationship: Sendable, Codable, Equatable {
    package var name: String
    package var destinationName: String
    package var inverseName: String?
    /// The entity that declares the inverse, when the model names one.
    package var inverseEntityName: String?
    package var isOptional = false
    package var isTransient = false
    package var isOrdered = false
    package var minCount = 0
    /// 1 for a to-one, 0 for a to-many without bound.
    package var maxCount = 1
    /// Whether Core Data itself has taken what no model file can say: -1 for no maximum, the order of a single object. It counts in the
    /// hash only.
    package var isLoose: Bool?
    package var deleteRule: DeleteRule = .nullify
    package var isIndexed = false
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var userInfo: [String: String] = [:]
    package var location: SourceLocation?

    package init(name: String, destinationName: String) {
        self.name = name
        self.destinationName = destinationName
    }

    package var isToMany: Bool { maxCount != 1 }
}

/// A property whose value is the result of a fetch; it has no storage.
package struct FetchedProperty: Sendable, Codable, Equatable {
    package var name: String
    package var isOptional = false
    package var request: FetchTemplate
    package var userInfo: [String: String] = [:]
    package var location: SourceLocation?
    package init(name: String, request: FetchTemplate) {
        self.name = name
        self.request = request
    }
}

/// A fetch request stored in the model under a name.
package struct FetchTemplate: Sendable, Codable, Equatable {
    package var name: String
    package var entityName: String
    package var predicate: String?
    /// Bits of `NSFetchRequestResultType`: 0 objects, 1 object IDs, 2 dictionaries, 4 count.
    package var resultType = 0
    package var fetchLimit = 0
    package var fetchBatchSize = 0
    package var includesSubentities = true
    package var includesPropertyValues = true
    package var includesPendingChanges = true
    package var returnsObjectsAsFaults = true
    package var returnsDistinctResults = false
    package var location: SourceLocation?
    package init(name: String, entityName: String) {
        self.name = name
        self.entityName = entityName
    }
}

/// A fetch index of an entity.
package struct FetchIndex: Sendable, Codable, Equatable {
    package struct Element: Sendable, Codable, Equatable {
        /// The property, or nil for a computed element.
        package var property: String?
        package var expression: String?
        package var isAscending = true
        package var isRTree = false
        package init(property: String?, expression: String? = nil, isAscending: Bool = true, isRTree: Bool = false) {
            self.property = property
            self.expression = expression
            self.isAscending = isAscending
            self.isRTree = isRTree
        }
    }
    package var name: String
    package var elements: [Element]
    package var partialPredicate: String?
    package var location: SourceLocation?
    package init(name: String, elements: [Element], partialPredicate: String? = nil, location: SourceLocation? = nil) {
        self.name = name
        self.elements = elements
        self.partialPredicate = partialPredicate
        self.location = location
    }
}
