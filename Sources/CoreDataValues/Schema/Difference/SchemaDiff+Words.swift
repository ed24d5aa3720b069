// Differences in plain sentences.

extension SchemaDiff {
    /// A sentence for each entity and property, without the full stop; what only inherits a difference comes last.
    package var sentences: [String] { Self.joined(entities.map { $0.sentences(ofHash: false) }) }

    /// The same of what makes version hashes differ.
    package var hashedSentences: [String] { hashedSentences { _ in true } }

    func hashedSentences(where isMeant: (EntityDiff) -> Bool) -> [String] {
        Self.joined(entities.filter { $0.entersHash && isMeant($0) }.map { $0.sentences(ofHash: true) })
    }

    private static func joined(_ lists: [(own: [String], inherited: [String])]) -> [String] {
        lists.flatMap(\.own) + lists.flatMap(\.inherited)
    }
}

extension SchemaDiff {
    /// A difference of one entity, or one of its properties, in words that follow its name.
    package struct Change: Sendable, Hashable {
        package let entity: String
        package let property: String?
        package let words: String
    }

    /// In the order of the entities; what an entity only inherits is left out.
    package var changes: [Change] {
        entities.flatMap { entity -> [Change] in
            let own = entity.ownWords(ofHash: false).map { Change(entity: entity.name, property: nil, words: $0) }
            return own
                + entity.properties.map {
                    Change(entity: entity.name, property: $0.name, words: $0.words(ofHash: false))
                }
        }
    }
}

extension EntityDiff {
    /// What differs in the entity itself, behind its name; nothing for none.
    fileprivate func ownWords(ofHash: Bool) -> [String] {
        switch kind {
        case .added: return ["was added"]
        case .removed: return ["was removed"]
        case .renamed, .changed: break
        }
        var parts = changes.filter { (!ofHash || $0.entersHash) && $0.aspect != .ancestor }.map(\.phrase)
        if kind == .renamed { parts.insert("was called \(source ?? "")", at: 0) }
        return parts.isEmpty ? [] : [parts.joined(separator: ", ")]
    }

    /// What differs in the entity and its properties, and what its parent brings.
    ///
    /// - Parameter ofHash: whether only what enters the version hash is told.
    fileprivate func sentences(ofHash: Bool) -> (own: [String], inherited: [String]) {
        let own = ownWords(ofHash: ofHash).map { "\(name) \($0)" }
        guard kind == .renamed || kind == .changed else { return (own, []) }
        let listed = properties.filter { !ofHash || $0.entersHash }.map { "\(name).\($0.sentence(ofHash: ofHash))" }
        let inherited = changes.filter { (!ofHash || $0.entersHash) && $0.aspect == .ancestor }
        return (own + listed, inherited.map { "\(name) \($0.phrase)" })
    }
}

extension PropertyDiff {
    fileprivate func sentence(ofHash: Bool) -> String {
        if case .movedTo(let other) = kind { return "\(source ?? "") was moved to \(other).\(name)" }
        if kind == .added || kind == .removed { return "\(name) (\(form)) was \(kind == .added ? "added" : "removed")" }
        return "\(name) \(words(ofHash: ofHash))"
    }

    /// The same behind the property's name.
    fileprivate func words(ofHash: Bool) -> String {
        var parts = changes.filter { !ofHash || $0.entersHash }.map(\.phrase)
        switch kind {
        case .added: return "was added (\(form))"
        case .removed: return "was removed (\(form))"
        case .movedTo(let other): return "was moved to \(other).\(name)"
        case .movedFrom(let other): parts.insert("was moved from \(other).\(source ?? "")", at: 0)
        case .renamed: parts.insert("was called \(source ?? "")", at: 0)
        case .changed: break
        }
        return parts.joined(separator: ", ")
    }
}

extension Difference {
    /// `was optional and is required`, `had the parent Place and has none`.
    package var phrase: String {
        switch aspect {
        case .type, .isOptional, .isTransient, .isOrdered, .cardinality, .storage, .history, .isAbstract:
            "was \(from ?? "") and is \(to ?? "")"
        case .destination: "led to \(from ?? "nothing") and leads to \(to ?? "nothing")"
        case .inverse: had("inverse")
        case .minimumCount: had("minimum count")
        case .maximumCount: had("maximum count")
        case .deleteRule: had("delete rule")
        case .derivation: had("derivation")
        case .elements: "had the elements \(from ?? "of none") and has \(to ?? "none")"
        case .defaultValue: had("default value")
        case .minimum: had("minimum")
        case .maximum: had("maximum")
        case .minimumLength: had("minimum length")
        case .maximumLength: had("maximum length")
        case .pattern: had("pattern")
        case .transformer: had("value transformer")
        case .valueClass: had("class of values")
        case .parent: had("parent")
        case .className: had("class")
        case .constraints: had("uniqueness constraint")
        case .indexes: had("fetch index")
        case .modifier: had("version hash modifier")
        case .request: "has another fetch request"
        case .ancestor: "inherits from \(to ?? ""), which differs"
        }
    }

    private func had(_ what: String) -> String {
        "had \(from.map { "the \(what) \($0)" } ?? "no \(what)") and has \(to ?? "none")"
    }
}

// MARK: - Words for declarations

extension Attribute {
    var optionality: String { isOptional ? "optional" : "required" }
    var transience: String { isTransient ? "transient" : "stored" }
    var storage: String { allowsExternalBinaryDataStorage ? "kept in files when large" : "kept in the row" }
    var history: String { (preservesValueInHistoryOnDeletion ? "" : "not ") + "kept in the history of deletions" }

    /// All that enters the hash of an element, and no more.
    var form: String {
        var words = [optionality, type.modelName]
        if isTransient { words.insert("transient", at: 1) }
        if allowsExternalBinaryDataStorage { words.append(storage) }
        if preservesValueInHistoryOnDeletion { words.append(history) }
        if let expression = derivationExpression.nonEmpty { words.append("derived as \(expression)") }
        if let modifier = versionHashModifier.nonEmpty { words.append("with the modifier \(modifier)") }
        return words.joined(separator: " ")
    }
}

extension Relationship {
    var optionality: String { isOptional ? "optional" : "required" }
    var transience: String { isTransient ? "transient" : "stored" }
    var form: String { (isOrdered ? "ordered " : "") + (isToMany ? "to-many" : "to-one") + " to \(destinationName)" }
}

extension DraftIndex.Property {
    var form: String {
        switch self {
        case .attribute(let attribute): attribute.form
        case .relationship(let relationship): relationship.form
        case .fetched(let property): "fetched property of \(property.request.entityName)"
        }
    }

    /// Whether it is part of the entity's hash.
    var isStored: Bool {
        switch self {
        case .attribute(let attribute): !attribute.isTransient
        case .relationship(let relationship): !relationship.isTransient
        case .fetched: false
        }
    }
}

extension DeleteRule {
    var word: String {
        switch self {
        case .noAction: "no action"
        case .nullify: "nullify"
        case .cascade: "cascade"
        case .deny: "deny"
        }
    }
}

extension Value {
    /// The value in a sentence; nil for none.
    var worded: String? {
        switch self {
        case .null: nil
        case .bool(let flag): flag ? "YES" : "NO"
        case .int(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .text(let text): "“\(text.shortened(to: 40))”"
        case .date(let seconds): "\(seconds) s after 2001-01-01"
        case .data(let bytes): "of \(bytes.count) bytes"
        case .uuid(let uuid): uuid.uuidString
        case .uri(let text): text.shortened(to: 40)
        case .key(let key): "\(key.number)"
        }
    }
}
