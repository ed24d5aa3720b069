// Contradictions that a draft must not hold.

import Foundation

/// Checks one draft: names, parents, destinations, inverses, constraints, indexes. A value used once.
///
/// Costs a few dictionary look-ups a property, and one regular expression compiled for each pattern.
struct SchemaCheck {
    let draft: SchemaDraft
    let names: DraftIndex
    var errors: [SchemaError] = []
    var warnings: [SchemaWarning] = []

    init(_ draft: SchemaDraft, names: DraftIndex? = nil) {
        self.draft = draft
        self.names = names ?? DraftIndex(draft)
    }

    /// - Returns: what is tolerated.
    /// - Throws: the first contradiction.
    func run() throws(SchemaError) -> [SchemaWarning] {
        var copy = self
        copy.checkAll()
        if let first = copy.errors.first { throw first }
        return copy.warnings
    }

    /// Every contradiction, for tools that list them. Names and parents come first: with one of these wrong,
    /// the rest is not looked at, since it would follow from them.
    static func errors(in draft: SchemaDraft) -> [SchemaError] {
        var check = SchemaCheck(draft)
        check.checkAll()
        return check.errors
    }

    private mutating func checkAll() {
        checkSize()
        checkEntityNames()
        checkParents()
        guard errors.isEmpty else { return }
        checkComposites()
        for entity in draft.entities {
            checkPropertyNames(of: entity)
            checkCompositeSize(of: entity)
            for attribute in entity.attributes {
                checkAttribute(attribute, of: entity.name)
                checkDerivation(attribute, in: entity)
            }
            for relationship in entity.relationships { checkRelationship(relationship, of: entity) }
            for fetched in entity.fetchedProperties { checkFetchedProperty(fetched, of: entity.name) }
            checkConstraints(of: entity)
            checkIndexes(of: entity)
        }
        checkConfigurations()
        checkTemplates()
    }
}

// MARK: - Entities

extension SchemaCheck {
    private mutating func checkSize() {
        guard draft.entities.count > SchemaLimits.entities else { return }
        report(
            "the model has \(draft.entities.count) entities; a store can number \(SchemaLimits.entities). "
                + "Split the model", location: draft.location)
    }

    private mutating func checkEntityNames() {
        var seen: Set<String> = []
        for entity in draft.entities {
            if entity.name.isEmpty {
                report("an entity has no name. Name it", location: entity.location)
            } else if let flaw = Self.flaw(in: entity.name) {
                report(
                    "the entity name “\(Self.shown(entity.name))” \(flaw). Rename it", entity.name, nil,
                    entity.location)
            } else if !seen.insert(entity.name).inserted {
                report(
                    "the entity “\(entity.name)” is declared twice. Rename or remove one", entity.name, nil,
                    entity.location)
            }
        }
    }

    private mutating func checkParents() {
        guard errors.isEmpty else { return }
        for entity in draft.entities {
            guard let parent = entity.parentName else { continue }
            guard names.entity(named: parent) != nil else {
                report(
                    "the entity “\(entity.name)” has the parent “\(parent)”, which the model does not declare. "
                        + "Declare it or correct the name", entity.name, nil, entity.location)
                continue
            }
            checkLine(of: entity)
        }
    }

    private mutating func checkLine(of entity: EntityDraft) {
        var seen: Set<String> = []
        for ancestor in names.line(of: entity.name) where !seen.insert(ancestor.name).inserted {
            report(
                "the entity “\(entity.name)” inherits from itself, by way of “\(entity.parentName ?? "")”. "
                    + "Give one of them another parent", entity.name, nil, entity.location)
            return
        }
        if seen.count > SchemaLimits.depth {
            report(
                "the entity “\(entity.name)” has more than \(SchemaLimits.depth - 1) ancestors. Flatten the inheritance",
                entity.name, nil, entity.location)
        }
    }

    /// Names that differ only in case are two names.
    private mutating func checkPropertyNames(of entity: EntityDraft) {
        var seen: Set<String> = []
        for (name, location) in Self.ownProperties(of: entity) {
            if name.isEmpty {
                report("a property of “\(entity.name)” has no name. Name it", entity.name, nil, location)
            } else if let flaw = Self.flaw(in: name, isProperty: true) {
                report(
                    "the property name “\(Self.shown(name))” of “\(entity.name)” \(flaw). Rename it",
                    entity.name, name,
                    location)
            } else if let owner = Self.owner(ofMember: name) {
                report(
                    "“\(entity.name)” declares the property “\(name)”, which is a member of every \(owner). Rename it",
                    entity.name, name, location)
            } else if !seen.insert(name).inserted {
                report(
                    "“\(entity.name)” declares the property “\(name)” twice. Rename or remove one",
                    entity.name,
                    name, location)
            } else if let parent = entity.parentName,
                let owner = names.property(named: name, in: parent)?.owner
            {
                report(
                    "“\(entity.name)” declares the property “\(name)”, which it inherits from “\(owner.name)”. "
                        + "Rename or remove one", entity.name, name, location)
            }
        }
        let count = names.line(of: entity.name).reduce(0) { $0 + Self.ownProperties(of: $1).count }
        if count > SchemaLimits.properties {
            report(
                "“\(entity.name)” has \(count) properties with those it inherits; \(SchemaLimits.properties) are "
                    + "the most. Split the entity", entity.name, nil, entity.location)
        }
    }

    private static func ownProperties(of entity: EntityDraft) -> [(name: String, location: SourceLocation?)] {
        entity.attributes.map { ($0.name, $0.location ?? entity.location) }
            + entity.relationships.map { ($0.name, $0.location ?? entity.location) }
            + entity.fetchedProperties.map { ($0.name, $0.location ?? entity.location) }
    }

    /// Key paths part names at dots and mark their operators with @; control characters end names in C and in
    /// logs.
    static func flaw(in name: String, isProperty: Bool = false) -> String? {
        if name.utf8.count > SchemaLimits.name { return "is longer than \(SchemaLimits.name) bytes" }
        if name.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) {
            return "holds a control character"
        }
        if isProperty, name.utf8.contains(UInt8(ascii: ".")) { return "holds a dot, which key paths cannot pass" }
        if isProperty, name.hasPrefix("@") { return "begins with @, which marks operators in key paths" }
        return nil
    }

    /// A name fit for a message.
    static func shown(_ name: String) -> String {
        var shown = ""
        for scalar in name.unicodeScalars.prefix(60) {
            shown += scalar.value < 32 || scalar.value == 127 ? scalar.escaped(asASCII: true) : String(scalar)
        }
        return name.unicodeScalars.count > 60 ? shown + "…" : shown
    }

    mutating func report(
        _ message: String, _ entity: String? = nil, _ property: String? = nil, _ location: SourceLocation?
    ) {
        errors.append(SchemaError(message, entity: entity, property: property, location: location))
    }

    mutating func report(_ message: String, location: SourceLocation?) { report(message, nil, nil, location) }

    mutating func warn(
        _ message: String, _ entity: String? = nil, _ property: String? = nil, _ location: SourceLocation?
    ) {
        warnings.append(SchemaWarning(message, entity: entity, property: property, location: location))
    }

    /// Warns of what a program should know.
    mutating func tell(_ message: String, _ entity: String?, _ property: String?, _ location: SourceLocation?) {
        warn(message, entity, property, location)
        warnings[warnings.count - 1].isTold = true
    }
}
