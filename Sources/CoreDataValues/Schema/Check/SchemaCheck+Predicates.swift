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

    /// What is sound and cannot be computed is refused by the stores.
    mutating func checkDerivation(_ attribute: Attribute, in entity: EntityDraft) {
        guard let text = attribute.derivationExpression, !text.allSatisfy(\.isWhitespace) else { return }
        do throws(PredicateError) {
            _ = try FormatParser.expression(text)
        } catch {
            report(
                "the derivation of “\(entity.name).\(attribute.name)” cannot be read. \(error.sentence) Correct it",
                entity.name,
                attribute.name, attribute.location ?? entity.location)
        }
    }

    mutating func checkCondition(of index: FetchIndex, title: String, in entity: EntityDraft) {
        guard let text = index.partialPredicate else { return }
        do throws(PredicateError) {
            _ = try FormatParser.predicate(text)
        } catch {
            report(
                "the condition of \(title) cannot be read. \(error.sentence) Correct it", entity.name, nil,
                index.location ?? entity.location)
        }
    }
}

extension Schema {
    /// Finds derivations and conditions of indexes that name what is not in the model, once names have places.
    func checkKeyPaths() throws(SchemaError) {
        for entity in entities {
            for attribute in entity.draft.attributes {
                guard let text = attribute.derivationExpression, let tree = try? FormatParser.expression(text) else {
                    continue
                }
                try check(
                    tree.keyPaths, entity,
                    "the derivation of “\(entity.name).\(attribute.name)”, “\(text.shortened())”,",
                    attribute.name, attribute.location ?? entity.draft.location)
            }
            for index in entity.draft.indexes {
                guard let text = index.partialPredicate, let tree = try? FormatParser.predicate(text) else { continue }
                try check(
                    tree.keyPaths, entity,
                    "the condition of the index “\(index.name)” of “\(entity.name)”, “\(text.shortened())”,", nil,
                    index.location ?? entity.draft.location)
            }
        }
    }

    private func check(
        _ paths: [[String]], _ entity: Entity, _ title: String, _ property: String?, _ location: SourceLocation?
    ) throws(SchemaError) {
        guard let missing = paths.compactMap({ missingKey(along: $0, from: entity) }).first else { return }
        let (key, owner) = (missing.key.shortened(), missing.owner.name)
        let flaw =
            missing.attribute.map { "names “\(key)” of “\(owner).\($0)”, which is an attribute" }
            ?? "names “\(key)”, which is no property of “\(owner)”"
        throw SchemaError("\(title) \(flaw). Correct it", entity: entity.name, property: property, location: location)
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
        case .conditional(let condition, let first, let second): condition.keyPaths + first.keyPaths + second.keyPaths
        }
    }
}
