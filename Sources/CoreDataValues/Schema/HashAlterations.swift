// The ways in which an entity may have been another one.

/// Lists, for each part of an entity, what it may have been when a store recorded the entity's hash.
struct Alterations {
    let entity: EntityDraft
    let evidence: HashSearch.Evidence?
    let hashes: VersionHash
    let entities: [String: EntityDraft]
    /// Of the model and of the store.
    let entityNames: Set<String>
    /// Names that properties of other entities are known to have had.
    let formerNames: Set<String>

    /// Beyond this much a change of one property is not tried.
    private static let dearest = 3

    /// A part as it may have been, while it is put together.
    private struct Draft<Subject> {
        var subject: Subject
        var cost = 0
        var words: [String] = []
        var formerName: String?
    }

    /// Properties in the order of their names, then what belongs to the entity as a whole.
    func dimensions() -> [[HashVariant]] {
        let attributes = entity.attributes.map { ($0.name, variants(of: $0)) }
        let relationships = entity.relationships.map { ($0.name, variants(of: $0)) }
        let properties = (attributes + relationships).sorted { VersionHash.precedes($0.0, $1.0) }.map(\.1)
        // What comes last is altered first.
        return ((evidence?.leftovers ?? []).map(added) + [isAbstract(), constraints(), modifier()] + properties)
            .filter { !$0.isEmpty }
    }

    // MARK: The entity as a whole

    private func isAbstract() -> [HashVariant] {
        let word = entity.isAbstract ? "was not abstract" : "was abstract"
        return [
            HashVariant(part: .isAbstract(entity.isAbstract)),
            HashVariant(
                part: .isAbstract(!entity.isAbstract), cost: 1, sentence: "\(entity.name) \(word) in the store"),
        ]
    }

    private func modifier() -> [HashVariant] {
        guard entity.versionHashModifier != nil else { return [] }
        return [
            HashVariant(part: .modifier(entity.versionHashModifier)),
            HashVariant(
                part: .modifier(nil), cost: 1, sentence: "\(entity.name) had no version hash modifier in the store"),
        ]
    }

    private func constraints() -> [HashVariant] {
        let ours = entity.uniquenessConstraints
        if let theirs = evidence?.constraints {
            return [
                HashVariant(
                    part: .constraints(theirs), sentence: Set(theirs) == Set(ours) ? nil : differing(ours, theirs))
            ]
        }
        var others: [[[String]]] = ours.isEmpty ? [] : [[]]
        if ours.count > 1 {
            others += ours.indices.map { left in ours.indices.filter { $0 != left }.map { ours[$0] } }
        }
        let singles = entity.attributes.filter { !$0.isTransient }.map { [[$0.name]] }
        others += singles.filter { $0 != ours }
        return [HashVariant(part: .constraints(ours))]
            + others.map { HashVariant(part: .constraints($0), cost: 1, sentence: differing(ours, $0)) }
    }

    private func differing(_ ours: [[String]], _ theirs: [[String]]) -> String {
        func spelled(_ list: [[String]]) -> String {
            if list.isEmpty { return "no uniqueness constraint" }
            return "the uniqueness constraint\(list.count == 1 ? "" : "s") "
                + list.map { "(" + $0.joined(separator: ", ") + ")" }.sorted().joined(separator: ", ")
        }
        return "\(entity.name) had \(spelled(theirs)) in the store and has \(spelled(ours)) in the model"
    }

    // MARK: Attributes

    private func variants(of attribute: Attribute) -> [HashVariant] {
        let title = "\(entity.name).\(attribute.name)"
        let isAbsent = evidence?.absent.contains(attribute.name) == true
        var variants: [HashVariant] = []
        if attribute.isTransient {
            variants.append(HashVariant(part: .property(nil)))
            let isShown = evidence?.leftovers.contains { $0.name == attribute.name.uppercased() }
            if isShown == false { return variants }
        } else if isAbsent {
            variants.append(HashVariant(part: .property(nil), sentence: "\(title) is not in the store"))
        } else if evidence?.types[attribute.name] == nil {
            variants.append(
                HashVariant(
                    part: .property(nil), cost: 1, sentence: "\(title) was transient or not there in the store"))
        }
        for draft in drafts(of: attribute, isAbsent: isAbsent) {
            variants.append(
                HashVariant(
                    part: .property(hashes.hashed(draft.subject)), cost: draft.cost,
                    sentence: sentence(title, draft.words), formerName: draft.formerName))
        }
        return variants
    }

    private func drafts(of attribute: Attribute, isAbsent: Bool) -> [Draft<Attribute>] {
        var drafts = [Draft(subject: attribute)]
        if isAbsent {
            drafts = renamed(attribute, \.name) { $0.contains(attribute.type) }
        } else if attribute.isTransient {
            drafts[0].subject.isTransient = false
            drafts[0].cost = 1
            drafts[0].words = ["was not transient"]
        }
        if attribute.type != .composite, !isAbsent { drafts = retyped(drafts) }
        drafts = flipped(drafts, \.isOptional, 1, "was optional", "was required")
        if attribute.type == .binary || attribute.type == .string || attribute.type == .transformable {
            drafts = flipped(
                drafts, \.allowsExternalBinaryDataStorage, 1, "allowed external storage", "allowed no external storage")
        }
        drafts = flipped(
            drafts, \.preservesValueInHistoryOnDeletion, 2, "was preserved after deletion",
            "was not preserved after deletion")
        if attribute.isDerived {
            drafts = extended(drafts, 1) { [($0.with(\.derivationExpression, nil), "was not derived")] }
        }
        return unmodified(drafts, \.versionHashModifier)
    }

    /// A type that its column cannot be for is left out, also when the model says so.
    private func retyped(_ drafts: [Draft<Attribute>]) -> [Draft<Attribute>] {
        drafts.flatMap { draft -> [Draft<Attribute>] in
            let own = draft.subject.type
            let possible = evidence?.types[draft.subject.name]
            let isRefuted = possible?.contains(own) == false
            let others = (possible ?? Self.storedTypes).filter { $0 != own }.map { type in
                Draft(
                    subject: draft.subject.with(\.type, type), cost: draft.cost + (isRefuted ? 0 : 1),
                    words: draft.words + ["was \(type.modelName)"])
            }
            return (isRefuted ? [] : [draft]) + others
        }
    }

    private static let storedTypes: [AttributeType] = AttributeType.allCases.filter {
        $0 != .undefined && $0 != .objectID && $0 != .composite
    }

    /// An attribute that only the store has.
    private func added(_ leftover: (name: String, types: [AttributeType])) -> [HashVariant] {
        var variants = [HashVariant(part: .property(nil))]
        for (name, cost) in spellings(leftover.name) {
            for type in leftover.types {
                for isOptional in [true, false] {
                    var attribute = Attribute(name: name, type: type)
                    attribute.isOptional = isOptional
                    let word = isOptional ? "optional" : "required"
                    variants.append(
                        HashVariant(
                            part: .property(hashes.hashed(attribute)), cost: 1 + cost,
                            sentence: "the store has the \(word) \(type.modelName) \(entity.name).\(name), which the "
                                + "model has not", formerName: name))
                }
            }
        }
        return variants
    }

    // MARK: Relationships

    private func variants(of relationship: Relationship) -> [HashVariant] {
        let title = "\(entity.name).\(relationship.name)"
        let isAbsent = evidence?.absent.contains(relationship.name) == true
        var variants: [HashVariant] = []
        if relationship.isTransient {
            variants.append(HashVariant(part: .property(nil)))
            if evidence != nil { return variants }
        } else if isAbsent {
            variants.append(HashVariant(part: .property(nil), sentence: "\(title) is not in the store"))
        } else if evidence == nil || relationship.isToMany {
            let isUnjoined = evidence?.unjoined.contains(relationship.name) == true
            let words = isUnjoined ? "is not in the store" : "was transient or not there in the store"
            variants.append(HashVariant(part: .property(nil), cost: 1, sentence: "\(title) \(words)"))
        }
        for draft in drafts(of: relationship, isAbsent: isAbsent) {
            let hash = VersionHash.hash(draft.subject, owner: entity.name)
            variants.append(
                HashVariant(
                    part: .property(VersionHash.HashedProperty(name: draft.subject.name, hash: hash)),
                    cost: draft.cost, sentence: sentence(title, draft.words), formerName: draft.formerName))
        }
        return variants
    }

    private func drafts(of relationship: Relationship, isAbsent: Bool) -> [Draft<Relationship>] {
        var drafts = isAbsent ? [] : [Draft(subject: relationship)]
        if isAbsent || relationship.isToMany {
            drafts += renamed(relationship, \.name) { $0.isEmpty || $0.contains(.integer64) }
        }
        if relationship.isTransient {
            drafts = drafts.map {
                Draft(subject: $0.subject.with(\.isTransient, false), cost: $0.cost + 1, words: ["was not transient"])
            }
        }
        if isAbsent, !relationship.isToMany {
            // A to-many needs no column.
            drafts += [Draft(subject: relationship.with(\.maxCount, 0), cost: 1, words: ["was a to-many"])]
        } else {
            drafts = counted(drafts)
        }
        drafts = ordered(drafts)
        drafts = flipped(drafts, \.isOptional, 1, "was optional", "was required")
        drafts = extended(drafts, 1) { relationship in
            inverses(of: relationship).map {
                (relationship.with(\.inverseName, $0), $0.map { "had the inverse \($0)" } ?? "had no inverse")
            }
        }
        drafts = extended(drafts, 2) { relationship in
            entityNames.filter { $0 != relationship.destinationName }.sorted().map {
                (relationship.with(\.destinationName, $0), "led to \($0)")
            }
        }
        return unmodified(drafts, \.versionHashModifier)
    }

    private func counted(_ drafts: [Draft<Relationship>]) -> [Draft<Relationship>] {
        let most = drafts.flatMap { draft -> [Draft<Relationship>] in
            [draft]
                + (0...20).filter { $0 != draft.subject.maxCount }.map { count in
                    let words = count == 0 ? "had no maximum count" : "had the maximum count \(count)"
                    let isOther = draft.subject.isToMany != (count != 1)
                    return Draft(
                        subject: draft.subject.with(\.maxCount, count), cost: draft.cost + (count < 2 ? 1 : 2),
                        words: draft.words + [isOther ? "was a to-\(count == 1 ? "one" : "many")" : words],
                        formerName: draft.formerName)
                }
        }
        return most.filter { $0.cost <= Self.dearest }.flatMap { draft -> [Draft<Relationship>] in
            [draft]
                + (0...20).filter { $0 != draft.subject.minCount }.map { count in
                    Draft(
                        subject: draft.subject.with(\.minCount, count), cost: draft.cost + (count < 2 ? 1 : 2),
                        words: draft.words + ["had the minimum count \(count)"], formerName: draft.formerName)
                }
        }.filter { $0.cost <= Self.dearest }
    }

    private func ordered(_ drafts: [Draft<Relationship>]) -> [Draft<Relationship>] {
        drafts.flatMap { draft -> [Draft<Relationship>] in
            guard draft.subject.isToMany || draft.subject.isOrdered else { return [draft] }
            let shown = evidence?.isOrdered[draft.subject.name]
            let isRefuted = shown != nil && shown != draft.subject.isOrdered
            var other = draft
            other.subject.isOrdered.toggle()
            other.cost += isRefuted ? 0 : 1
            other.words.append(other.subject.isOrdered ? "was ordered" : "was not ordered")
            if isRefuted { return [other] }
            return shown == nil ? [draft, other] : [draft]
        }.filter { $0.cost <= Self.dearest }
    }

    /// Other names that the inverse may have had.
    private func inverses(of relationship: Relationship) -> [String?] {
        var names = formerNames
        var line = entities[relationship.destinationName]
        for _ in 0..<SchemaLimits.depth {
            guard let place = line else { break }
            names.formUnion(place.relationships.map(\.name))
            line = place.parentName.flatMap { entities[$0] }
        }
        for leftover in evidence?.leftovers ?? [] where leftover.types.isEmpty {
            names.formUnion(spellings(leftover.name).map(\.name))
        }
        let others = names.filter { $0 != relationship.inverseName }.sorted()
        return (relationship.inverseName == nil ? [] : [nil]) + others
    }

    // MARK: Putting together

    /// The subject under the names that only the store has.
    private func renamed<Subject>(
        _ subject: Subject, _ name: WritableKeyPath<Subject, String>, _ fits: ([AttributeType]) -> Bool
    ) -> [Draft<Subject>] {
        (evidence?.leftovers ?? []).filter { fits($0.types) }.flatMap { leftover in
            spellings(leftover.name).map { former, cost in
                var renamed = subject
                renamed[keyPath: name] = former
                return Draft(subject: renamed, cost: 1 + cost, words: ["was called \(former)"], formerName: former)
            }
        }
    }

    /// How a name that is known in upper case may be written: with no, one or two capitals after its first letter, and
    /// what they cost.
    private func spellings(_ name: String) -> [(name: String, cost: Int)] {
        let (small, large) = (Array(name.lowercased()), Array(name))
        guard small.count == large.count, small.count <= 40 else { return [(name.lowercased(), 0)] }
        func spelled(_ capitals: [Int]) -> String {
            String(small.indices.map { capitals.contains($0) ? large[$0] : small[$0] })
        }
        var result = [(spelled([]), 0)]
        for first in small.indices.dropFirst() {
            result.append((spelled([first]), 1))
            for second in small.indices where second > first { result.append((spelled([first, second]), 2)) }
        }
        return result
    }

    private func flipped<Subject>(
        _ drafts: [Draft<Subject>], _ flag: WritableKeyPath<Subject, Bool>, _ cost: Int, _ set: String, _ unset: String
    ) -> [Draft<Subject>] {
        extended(drafts, cost) { subject in
            var other = subject
            other[keyPath: flag].toggle()
            return [(other, other[keyPath: flag] ? set : unset)]
        }
    }

    private func unmodified<Subject>(
        _ drafts: [Draft<Subject>], _ modifier: WritableKeyPath<Subject, String?>
    ) -> [Draft<Subject>] {
        extended(drafts, 1) { subject in
            if subject[keyPath: modifier] == nil { return [] }
            var other = subject
            other[keyPath: modifier] = nil
            return [(other, "had no version hash modifier")]
        }
    }

    private func extended<Subject>(
        _ drafts: [Draft<Subject>], _ cost: Int, _ others: (Subject) -> [(Subject, String)]
    ) -> [Draft<Subject>] {
        drafts.flatMap { draft -> [Draft<Subject>] in
            if draft.cost + cost > Self.dearest { return [draft] }
            return [draft]
                + others(draft.subject).map {
                    Draft(
                        subject: $0.0, cost: draft.cost + cost, words: draft.words + [$0.1],
                        formerName: draft.formerName)
                }
        }
    }

    private func sentence(_ title: String, _ words: [String]) -> String? {
        words.isEmpty ? nil : "\(title) \(words.joined(separator: " and ")) in the store"
    }
}

extension Attribute {
    fileprivate func with<Part>(_ path: WritableKeyPath<Attribute, Part>, _ part: Part) -> Attribute {
        var copy = self
        copy[keyPath: path] = part
        return copy
    }
}

extension Relationship {
    fileprivate func with<Part>(_ path: WritableKeyPath<Relationship, Part>, _ part: Part) -> Relationship {
        var copy = self
        copy[keyPath: path] = part
        return copy
    }
}
