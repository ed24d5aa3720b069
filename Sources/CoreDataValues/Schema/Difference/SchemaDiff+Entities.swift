// Comparing entities that stand for each other.

/// Compares the entities of two schemas, and the properties that these declare themselves.
struct EntityComparison {
    let pairs: SchemaPairs
    private let moves: PropertyMoves
    private let properties: PropertyComparison

    init(pairs: SchemaPairs) {
        self.pairs = pairs
        moves = PropertyMoves(pairs)
        properties = PropertyComparison(pairs)
    }

    /// nil where nothing differs.
    func diff(to later: Entity) -> EntityDiff? {
        guard let earlier = pairs.source(of: later) else {
            return EntityDiff(kind: .added, source: nil, destination: later.name)
        }
        let isRenamed = !earlier.name.hasSameBytes(later.name)
        let changes = changes(earlier, later)
        let properties = properties(earlier, later)
        if !isRenamed, changes.isEmpty, properties.isEmpty { return nil }
        return EntityDiff(
            kind: isRenamed ? .renamed : .changed, source: earlier.name, destination: later.name, changes: changes,
            properties: properties)
    }

    private func changes(_ earlier: Entity, _ later: Entity) -> [Difference] {
        let (from, to) = (earlier.draft, later.draft)
        var found = Differences()
        found.compare(
            .isAbstract, from.isAbstract ? "abstract" : "not abstract", to.isAbstract ? "abstract" : "not abstract")
        compareParents(earlier, later, &found)
        found.compare(.modifier, from.versionHashModifier.nonEmpty, to.versionHashModifier.nonEmpty)
        found.compare(.constraints, from.constraintText, to.constraintText)
        found.entersHash = false
        found.compare(.className, from.className, to.className)
        found.compare(.indexes, from.indexText, to.indexText)
        return found.all
    }

    /// The parent's hash is part of the entity's.
    private func compareParents(_ earlier: Entity, _ later: Entity, _ found: inout Differences) {
        let (from, to) = (earlier.parent.map { pairs.source[$0] }, later.parent.map { pairs.destination[$0] })
        found.compare(.parent, from?.name, to?.name)
        guard let from, let to, from.name.hasSameBytes(to.name), from.versionHash != to.versionHash else { return }
        found.add(.ancestor, from.name, to.name)
    }

    private func properties(_ earlier: Entity, _ later: Entity) -> [PropertyDiff] {
        let (from, to) = (earlier.draft.declaredProperties, later.draft.declaredProperties)
        let matches = SchemaPairs.pair(from.map(\.named), to.map(\.named))
        let kept = Set(matches.compactMap { $0 })
        let present = zip(to, matches).compactMap { property, match in
            if let match { return properties.diff(from: from[match], to: property) }
            let origin = moves.origin(of: property)
            let kind = origin.map { PropertyDiff.Kind.movedFrom(entity: $0.entity) } ?? .added
            return properties.added(property, kind, from: origin)
        }
        let absent = from.indices.filter { !kept.contains($0) }.map { place in
            let target = moves.target(of: from[place])
            let kind = target.map { PropertyDiff.Kind.movedTo(entity: $0.entity) } ?? .removed
            return properties.removed(from[place], kind, to: target)
        }
        return (present + absent).sorted { VersionHash.precedes($0.name, $1.name) }
    }
}

/// The properties that other entities of their trees declare now.
struct PropertyMoves {
    private var origins: [DeclaredProperty: DeclaredProperty] = [:]
    private var targets: [DeclaredProperty: DeclaredProperty] = [:]

    init(_ pairs: SchemaPairs) {
        for later in pairs.destination.entities {
            let declared = pairs.destination.properties(of: later)
            let sources = pairs.sourceProperties(of: later)
            for property in declared {
                guard let origin = sources[property.name], let former = pairs.source.entity(named: origin.entity),
                    pairs.destination(of: former)?.name != property.entity
                else { continue }
                if origins[property] == nil { origins[property] = origin }
                if targets[origin] == nil { targets[origin] = property }
            }
        }
    }

    func origin(of later: DeclaredProperty) -> DeclaredProperty? { origins[later] }
    func target(of earlier: DeclaredProperty) -> DeclaredProperty? { targets[earlier] }
}

/// Differences as they are found.
struct Differences {
    private(set) var all: [Difference] = []
    /// Whether what follows is part of the version hash.
    var entersHash = true

    mutating func compare(_ aspect: Difference.Aspect, _ from: String?, _ to: String?) {
        switch (from, to) {
        case (nil, nil): return
        case (let from?, let to?) where from.hasSameBytes(to): return
        case (.some, _), (_, .some): add(aspect, from, to)
        }
    }

    /// Values are told shortened, and compared as they are.
    mutating func compare(_ aspect: Difference.Aspect, _ from: Value, _ to: Value) {
        if from != to { add(aspect, from.worded, to.worded) }
    }

    mutating func add(_ aspect: Difference.Aspect, _ from: String?, _ to: String?) {
        all.append(Difference(aspect: aspect, from: from, to: to, entersHash: entersHash))
    }
}

extension EntityDraft {
    /// In any order: they enter the hash sorted.
    fileprivate var constraintText: String? {
        uniquenessConstraints.map { "(" + $0.joined(separator: ", ") + ")" }.sorted(by: VersionHash.precedes)
            .joined(separator: ", ").nonEmpty
    }

    fileprivate var indexText: String? {
        indexes.map { index in
            let elements = index.elements.map {
                ($0.property ?? $0.expression ?? "") + ($0.isAscending ? "" : " descending")
                    + ($0.isRTree ? " in an R-tree" : "")
            }
            return "\(index.name) (\(elements.joined(separator: ", ")))"
                + (index.partialPredicate.map { " where \($0)" } ?? "")
        }.sorted(by: VersionHash.precedes).joined(separator: ", ").nonEmpty
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

extension String? {
    /// nil for an empty text, which is none.
    var nonEmpty: String? { flatMap { $0.isEmpty ? nil : $0 } }
}
