// Contradictions in relationships, and in what names entities or properties.

extension SchemaCheck {
    mutating func checkRelationship(_ relationship: Relationship, of entity: EntityDraft) {
        checkCounts(relationship, of: entity)
        let name = relationship.destinationName
        guard names.entity(named: name) != nil else {
            let lead = "the relationship “\(entity.name).\(relationship.name)”"
            return report(
                name.isEmpty
                    ? "\(lead) has no destination. Name an entity"
                    : "\(lead) leads to “\(name)”, which the model does not declare. Declare it or correct the name",
                entity.name, relationship.name, relationship.location ?? entity.location)
        }
        checkInverse(of: relationship, of: entity)
    }

    private mutating func checkCounts(_ relationship: Relationship, of entity: EntityDraft) {
        let isLoose = relationship.isLoose == true
        let low = relationship.minCount
        let high = isLoose && relationship.maxCount == -1 ? 0 : relationship.maxCount
        let title = "the relationship “\(entity.name).\(relationship.name)”"
        let location = relationship.location ?? entity.location
        if low < 0 || high < 0 || low > Int(Int32.max) || high > Int(Int32.max) {
            report(
                "\(title) counts from \(low) to \(high). Counts lie between 0 and \(Int32.max)", entity.name,
                relationship.name, location)
        } else if high != 0, low > high {
            report(
                "\(title) has the minimum count \(low) above its maximum, \(high). Correct one", entity.name,
                relationship.name, location)
        } else if relationship.isOrdered, !relationship.isToMany, !isLoose {
            report(
                "\(title) is ordered and leads to one object only. Make it to-many or not ordered",
                entity.name,
                relationship.name, location)
        }
    }

    private mutating func checkInverse(of relationship: Relationship, of entity: EntityDraft) {
        guard let inverseName = relationship.inverseName else { return }
        let title = "“\(entity.name).\(relationship.name)”"
        let destination = relationship.destinationName
        let flaw: String
        if let named = relationship.inverseEntityName, names.entity(named: named) == nil {
            flaw =
                "the inverse of \(title) is in “\(named)”, which the model does not declare. Correct the name"
        } else if let (owner, inverse) = names.inverse(of: relationship) {
            let inverseTitle = "“\(owner.name).\(inverse.name)”"
            if !names.areRelated(owner.name, destination) {
                flaw =
                    "\(title) leads to “\(destination)”, its inverse \(inverseTitle) belongs to another tree. "
                    + "Correct the destination or the inverse"
            } else if !names.areRelated(inverse.destinationName, entity.name) {
                flaw =
                    "\(inverseTitle), the inverse of \(title), leads to “\(inverse.destinationName)” and not to "
                    + "“\(entity.name)”. Correct its destination"
            } else if let back = names.inverse(of: inverse),
                back.owner.name == entity.name, back.inverse.name == relationship.name
            {
                return warnOfInverseEntity(relationship, of: entity)
            } else if let other = inverse.inverseName {
                return tell(
                    "\(title) has the inverse \(inverseTitle), which has “\(other)” for its inverse: changing one side does not "
                        + "change the other. Make them name each other", entity.name, relationship.name,
                    relationship.location ?? entity.location)
            } else {
                flaw = "\(title) has the inverse \(inverseTitle), which has no inverse. Make them name each other"
            }
        } else {
            flaw =
                "the inverse of \(title), “\(inverseName)”, is no relationship of “\(destination)”. "
                + "Declare it or correct the name"
        }
        report(flaw, entity.name, relationship.name, relationship.location ?? entity.location)
    }

    /// A model in use names an inverse entity that has nothing to do with the destination, and loads all the
    /// same.
    private mutating func warnOfInverseEntity(_ relationship: Relationship, of entity: EntityDraft) {
        guard let named = relationship.inverseEntityName,
            !names.areRelated(named, relationship.destinationName)
        else {
            return
        }
        warn(
            "“\(entity.name).\(relationship.name)” leads to “\(relationship.destinationName)” and says that its inverse "
                + "is in “\(named)”: the inverse is taken from the destination", entity.name,
            relationship.name,
            relationship.location ?? entity.location)
    }

    mutating func checkFetchedProperty(_ fetched: FetchedProperty, of entity: String) {
        checkPredicate(
            of: fetched.request, title: "the fetched property “\(entity).\(fetched.name)”", entity, fetched.name)
        guard names.entity(named: fetched.request.entityName) == nil else { return }
        report(
            "the fetched property “\(entity).\(fetched.name)” fetches “\(fetched.request.entityName)”, which the model "
                + "does not declare. Declare it or correct the name", entity, fetched.name, fetched.location)
    }
}

// MARK: - Constraints and indexes

extension SchemaCheck {
    mutating func checkConstraints(of entity: EntityDraft) {
        var seen: Set<[String]> = []
        for (position, constraint) in entity.uniquenessConstraints.enumerated() {
            let location =
                position < entity.constraintLocations.count
                ? entity.constraintLocations[position] : entity.location
            let title = "the constraint (\(constraint.joined(separator: ", "))) of “\(entity.name)”"
            if constraint.isEmpty {
                report(
                    "a uniqueness constraint of “\(entity.name)” names no attribute", entity.name, nil,
                    location)
            } else if Set(constraint).count != constraint.count {
                report("\(title) names an attribute twice. Remove one", entity.name, nil, location)
            } else if !seen.insert(constraint).inserted {
                report("\(title) is declared twice. Remove one", entity.name, nil, location)
            }
            for name in constraint {
                if let flaw = flaw(ofColumn: name, in: entity.name) {
                    report("\(title) names “\(name)”, \(flaw)", entity.name, name, location)
                } else if isToMany(name, in: entity.name) {
                    report(
                        "\(title) names the to-many “\(name)”, which has no single value", entity.name, name,
                        location)
                }
            }
        }
    }

    mutating func checkIndexes(of entity: EntityDraft) {
        var seen: Set<String> = []
        for index in entity.indexes {
            let location = index.location ?? entity.location
            let title = "the index “\(index.name)” of “\(entity.name)”"
            if index.name.isEmpty {
                report("an index of “\(entity.name)” has no name. Name it", entity.name, nil, location)
            } else if !seen.insert(index.name).inserted {
                report("\(title) is declared twice. Rename or remove one", entity.name, nil, location)
            } else if index.elements.isEmpty {
                report("\(title) has no element. Give it one or remove it", entity.name, nil, location)
            } else if Set(index.elements.map(\.isRTree)).count > 1 {
                report("\(title) mixes binary and R-tree elements. Split it", entity.name, nil, location)
            }
            for element in index.elements { checkElement(element, title: title, of: entity.name, location) }
            checkCondition(of: index, title: title, in: entity)
        }
    }

    private mutating func checkElement(
        _ element: FetchIndex.Element, title: String, of entity: String, _ location: SourceLocation?
    ) {
        guard let name = element.property else {
            if element.expression == nil {
                report("\(title) has an element of no property and no expression", entity, nil, location)
            }
            return
        }
        if let flaw = flaw(ofColumn: name, in: entity) {
            report("\(title) names “\(name)”, \(flaw)", entity, name, location)
        } else if isToMany(name, in: entity) {
            // Many models in use carry such indexes from the days of `indexed="YES"`.
            warn(
                "\(title) names the to-many “\(name)”, which has no column: nothing is indexed", entity, name,
                location)
        }
    }

    /// Why a name is no column of an entity's table; nil when it is, or is a to-many.
    private func flaw(ofColumn name: String, in entity: String) -> String? {
        guard let found = names.property(named: name, in: entity) else {
            return "which is no property of “\(entity)”. Correct the name"
        }
        switch found.property {
        case .attribute(let attribute):
            if attribute.type == .composite { return "which is a composite. Name one of its elements" }
            return attribute.isTransient ? "which is transient and not in the store" : nil
        case .relationship(let other):
            return other.isTransient ? "which is transient and not in the store" : nil
        case .fetched: return "which is a fetched property and not in the store"
        }
    }

    private func isToMany(_ name: String, in entity: String) -> Bool {
        guard let found = names.property(named: name, in: entity) else { return false }
        if case .relationship(let relationship) = found.property { return relationship.isToMany }
        return false
    }
}

// MARK: - Configurations and templates

extension SchemaCheck {
    mutating func checkConfigurations() {
        for (name, members) in draft.configurations.sorted(by: { $0.key < $1.key }) {
            let location = draft.configurationLocations[name] ?? draft.location
            if name.isEmpty { report("a configuration has no name. Name it", location: location) }
            var seen: Set<String> = []
            for member in members {
                if names.entity(named: member) == nil {
                    report(
                        "the configuration “\(name)” holds the entity “\(member)”, which the model does not declare. "
                            + "Declare it or correct the name", member, nil, location)
                } else if !seen.insert(member).inserted {
                    report(
                        "the configuration “\(name)” holds the entity “\(member)” twice", member, nil,
                        location)
                }
            }
        }
    }

    mutating func checkTemplates() {
        var seen: Set<String> = []
        for template in draft.fetchTemplates {
            let location = template.location ?? draft.location
            if template.name.isEmpty {
                report("a fetch request template has no name. Name it", location: location)
            } else if !seen.insert(template.name).inserted {
                report("the fetch request template “\(template.name)” is declared twice", location: location)
            }
            if names.entity(named: template.entityName) == nil {
                report(
                    "the fetch request template “\(template.name)” fetches “\(template.entityName)”, which the model "
                        + "does not declare. Declare it or correct the name", template.entityName, nil,
                    location)
            }
            checkPredicate(
                of: template, title: "the fetch request template “\(template.name)”", template.entityName, nil)
            if template.fetchLimit < 0 || template.fetchBatchSize < 0 {
                report(
                    "the fetch request template “\(template.name)” has a limit below 0", location: location)
            }
        }
    }
}
