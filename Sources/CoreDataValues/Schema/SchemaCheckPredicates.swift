// Predicate and expression texts in a model.

extension SchemaCheck {
    /// A text that cannot be read would only be found out when it is asked for.
    mutating func checkPredicate(of template: FetchTemplate, title: String, _ entity: String, _ property: String?) {
        guard let text = template.predicate else { return }
        do throws(PredicateError) {
            _ = try FormatParser.predicate(text)
        } catch {
            report(
                "the predicate of \(title) cannot be read. \(error.sentence) Correct it", entity, property,
                template.location ?? draft.location)
        }
    }

    /// A derivation that cannot be read, or that names what is not there. What is sound and cannot be computed is refused by
    /// the stores.
    mutating func checkDerivation(_ attribute: Attribute, in entity: EntityDraft) {
        guard let text = attribute.derivationExpression, !text.allSatisfy(\.isWhitespace) else { return }
        let (title, location) = ("“\(entity.name).\(attribute.name)”", attribute.location ?? entity.location)
        do throws(PredicateError) {
            let paths = try FormatParser.expression(text).keyPaths
            guard let flaw = paths.compactMap({ self.flaw(inPath: $0, of: entity.name) }).first else { return }
            report(
                "the derivation of \(title), “\(text.shortened())”, \(flaw). Correct it", entity.name, attribute.name,
                location)
        } catch {
            report(
                "the derivation of \(title) cannot be read. \(error.sentence) Correct it", entity.name, attribute.name,
                location)
        }
    }

    mutating func checkCondition(of index: FetchIndex, title: String, in entity: EntityDraft) {
        guard let text = index.partialPredicate else { return }
        let location = index.location ?? entity.location
        do throws(PredicateError) {
            let paths = try FormatParser.predicate(text).keyPaths
            guard let flaw = paths.compactMap({ self.flaw(inPath: $0, of: entity.name) }).first else { return }
            report(
                "the condition of \(title), “\(text.shortened())”, \(flaw). Correct it", entity.name, nil, location)
        } catch {
            report("the condition of \(title) cannot be read. \(error.sentence) Correct it", entity.name, nil, location)
        }
    }

    /// What a key path names that is not there; nil when all is there.
    private func flaw(inPath path: [String], of entity: String) -> String? {
        var (place, rest) = (entity, path[...])
        while let name = rest.first {
            if name.hasPrefix("@") || name.uppercased() == "SELF" {
                rest = rest.dropFirst()
                continue
            }
            if names.entity(named: place) == nil { return nil }  // reported elsewhere
            // The elements of composites stand under their paths.
            let lengths = (1...rest.count).reversed()
            guard let length = lengths.first(where: { names.property(named: joined(rest, $0), in: place) != nil }),
                let found = names.property(named: joined(rest, length), in: place)
            else { return name == "objectID" ? nil : "names “\(name.shortened())”, which is no property of “\(place)”" }
            rest = rest.dropFirst(length)
            switch found.property {
            case .relationship(let relationship): place = relationship.destinationName
            case .fetched: return nil
            case .attribute(let attribute):
                guard let next = rest.first, !next.hasPrefix("@") else { return nil }
                return "names “\(next.shortened())” of “\(place).\(attribute.name)”, which is an attribute"
            }
        }
        return nil
    }

    private func joined(_ path: ArraySlice<String>, _ length: Int) -> String {
        path.prefix(length).joined(separator: ".")
    }
}

extension Predicate {
    /// The key paths that begin at the object itself.
    fileprivate var keyPaths: [[String]] {
        switch self {
        case .constant: []
        case .comparison(let comparison): comparison.left.keyPaths + comparison.right.keyPaths
        case .and: conjuncts.flatMap(\.keyPaths)
        case .or: disjuncts.flatMap(\.keyPaths)
        case .not(let part): part.keyPaths
        }
    }
}

extension Expression {
    fileprivate var keyPaths: [[String]] {
        switch self {
        case .constant, .this, .variable: []
        case .keyPath(let path): [path]
        case .list(let items): items.flatMap(\.keyPaths)
        // The path of something else, and what stands in brackets.
        case .function("valueForKeyPath:", let items), .function("objectFrom:withIndex:", let items):
            items.first?.keyPaths ?? []
        case .function(_, let items): items.flatMap(\.keyPaths)
        case .subquery(let collection, _, _): collection.keyPaths
        }
    }
}
