// The one place where the names of a key path are looked up in the schema.

/// What an expression comes to.
enum BoundExpression {
    case single(BoundOperand)
    /// One value a member at the end of a chain of to-manys.
    case many([BoundMembers], BoundOperand)
    case list([Expression])
}

/// Follows one key path from the object of a level.
struct KeyPathBinder {
    private let binding: Binding
    private let path: [String]
    private var level: Int
    private var entity: Entity
    private var hops: [ResolvedRelationship] = []
    private var chain: [BoundMembers] = []
    private var group: Int?

    private init(_ binding: Binding, _ path: [String], from level: Int) {
        self.binding = binding
        self.path = path
        self.level = level
        entity = binding.levels[level].entity
    }

    static func bind(_ path: [String], from level: Int, _ binding: Binding) throws(StoreError) -> BoundExpression {
        var binder = KeyPathBinder(binding, path, from: level)
        return try binder.run(path[...])
    }

    /// A path that goes on at what an expression comes to.
    static func bind(_ path: [String], behind start: BoundExpression, _ binding: Binding) throws(StoreError)
        -> BoundExpression
    {
        switch start {
        case .single(.path(let begun)):
            var binder = KeyPathBinder(binding, path, from: begun.level)
            return try binder.goOn(behind: begun, path[...])
        case .many(let chain, .path(let begun)):
            var binder = KeyPathBinder(binding, path, from: begun.level)
            binder.chain = chain
            binder.group = binding.levels[begun.level].group
            return try binder.goOn(behind: begun, path[...])
        case .single(.aggregate(let item)):
            guard let operand = item.operand, item.function.isItem else { break }
            let inner = try bind(path, behind: .single(operand), binding)
            guard case .single(let value) = inner else { break }
            return .single(.aggregate(BoundAggregate(function: item.function, chain: item.chain, operand: value)))
        case .single(let operand):
            guard path.count == 1, let call = textProperty(path[0], of: operand) else { break }
            return .single(call)
        case .many, .list: break
        }
        throw binding.refusal.nonsense("the key “\(path.joined(separator: "."))” of something that has none")
    }

    private mutating func goOn(behind begun: BoundPath, _ rest: ArraySlice<String>) throws(StoreError)
        -> BoundExpression
    {
        entity = begun.entity
        hops = begun.hops
        switch begun.end {
        case .object: return try run(rest)
        case .target(let relationship):
            try follow(relationship)
            return try run(rest)
        case .attribute, .entity: return try inside(.path(begun), rest)
        }
    }

    private mutating func run(_ path: ArraySlice<String>) throws(StoreError) -> BoundExpression {
        var rest = path
        while let name = rest.first {
            if name.lowercased() == "self" {
                rest = rest.dropFirst()
                continue
            }
            if name.hasPrefix("@") { return try collect(name, here(.object), rest.dropFirst()) }
            let composite = entity.compositeKey(of: rest)
            let key = composite?.key ?? name
            rest = rest.dropFirst(composite?.length ?? 1)
            binding.read(key, of: hops, from: level)
            switch entity.places[key] {
            case .slot(let slot)?:
                let property = entity.slots[slot]
                guard !property.isTransient else { throw unknown(key, "which is transient and not in the store") }
                guard let index = property.relationship else { return try inside(here(.attribute(slot: slot)), rest) }
                if rest.isEmpty || Array(rest) == ["objectID"] { return try end(.target(binding.schema[index])) }
                try follow(binding.schema[index])
            case .toMany(let place)?: try enter(binding.schema[entity.toMany[place]], key)
            case nil where key == "objectID" && rest.isEmpty: return try end(.object)
            // An entity and its name are the same to predicates.
            case nil where key == "entity":
                return try inside(here(.entity), rest.first == "name" ? rest.dropFirst() : rest)
            case nil where entity.composites[key] != nil:
                throw unknown(key, "which is a composite; name one of its elements")
            case .fetched?: throw unknown(key, "which is a fetched property and not in the store")
            case nil:
                binding.missing = Binding.MissingKey(key: key, owner: entity, attribute: nil)
                throw unknown(key, "which \(entity.name) does not have as a stored property; correct the key path")
            }
        }
        return try end(.object)
    }

    private func here(_ end: BoundPath.End) -> BoundOperand {
        .path(BoundPath(level: level, hops: hops, end: end, entity: entity))
    }

    private func end(_ end: BoundPath.End) throws(StoreError) -> BoundExpression { result(here(end)) }

    private func result(_ operand: BoundOperand) -> BoundExpression {
        chain.isEmpty ? .single(operand) : .many(chain, operand)
    }

    private mutating func follow(_ relationship: ResolvedRelationship) throws(StoreError) {
        hops.append(relationship)
        try binding.hop(hops, from: level)
        entity = binding.schema[relationship.destination]
    }

    private mutating func enter(_ relationship: ResolvedRelationship, _ key: String) throws(StoreError) {
        guard !relationship.description.isTransient else {
            throw unknown(key, "which is transient and not in the store")
        }
        let owner = BoundPath(level: level, hops: hops, end: .object, entity: entity)
        let group = group ?? binding.newGroup()
        self.group = group
        level = try binding.enter(relationship, from: level, over: hops, group: group)
        chain.append(BoundMembers(owner: owner, relationship: relationship, level: level))
        hops = []
        entity = binding.schema[relationship.destination]
    }

    // MARK: What follows an attribute

    /// The few keys that every text answers, and operators over collected values.
    private func inside(_ operand: BoundOperand, _ path: ArraySlice<String>) throws(StoreError) -> BoundExpression {
        let rest = path.drop { $0.lowercased() == "self" }
        guard let key = rest.first else { return result(operand) }
        if key.hasPrefix("@") { return try collect(key, operand, rest.dropFirst()) }
        guard rest.count == 1, let call = KeyPathBinder.textProperty(key, of: operand) else {
            let name = if case .path(let begun) = operand { begun.slot?.name ?? "" } else { "" }
            binding.missing = Binding.MissingKey(key: key, owner: entity, attribute: name)
            throw unknown(key, "which its attribute “\(name)” does not have")
        }
        return result(call)
    }

    private static func textProperty(_ key: String, of operand: BoundOperand) -> BoundOperand? {
        guard operand.family == .text || operand.family == .unknown else { return nil }
        switch key {
        case "length": return .call("length:", [operand])
        case "uppercaseString": return .call("uppercase:", [operand])
        case "lowercaseString": return .call("lowercase:", [operand])
        case "capitalizedString": return .call("capitalized:", [operand])
        default: return nil
        }
    }

    // MARK: Collection operators

    private func collect(_ name: String, _ operand: BoundOperand, _ path: ArraySlice<String>) throws(StoreError)
        -> BoundExpression
    {
        guard let found = KeyPathReader.CollectionOperator(rawValue: name) else {
            throw binding.refusal.nonsense(
                "“\(self.path.joined(separator: "."))”, which asks for the unknown collection operator \(name)")
        }
        guard !chain.isEmpty else {
            throw binding.refusal.nonsense("“\(self.path.joined(separator: "."))”, where \(name) follows no to-many")
        }
        if found == .count {
            guard let more = path.first(where: { $0.lowercased() != "self" }) else {
                return .single(.aggregate(BoundAggregate(function: .count, chain: chain, operand: nil)))
            }
            throw unknown(more, "which a number of members does not have")
        }
        let collected =
            path.isEmpty ? result(operand) : try KeyPathBinder.bind(Array(path), behind: result(operand), binding)
        guard case .many(let chain, let value) = collected else {
            throw binding.refusal.nonsense(
                "“\(self.path.joined(separator: "."))”, where \(name) stands behind another operator")
        }
        return try KeyPathBinder.collected(found, chain, value, path: self.path, binding)
    }

    private static func collected(
        _ found: KeyPathReader.CollectionOperator, _ chain: [BoundMembers], _ value: BoundOperand, path: [String],
        _ binding: Binding
    ) throws(StoreError) -> BoundExpression {
        let function: BoundAggregate.Function
        switch found {
        case .sum: function = .sum
        case .average: function = .average
        case .minimum: function = .minimum
        case .maximum: function = .maximum
        case .union, .distinctUnion, .unionArrays, .distinctUnionArrays, .unionSets, .distinctUnionSets:
            return .many(chain, value)
        case .count: function = .count
        }
        return .single(try BoundAggregate.make(function, chain, value, written: path.joined(separator: "."), binding))
    }

    private func unknown(_ key: String, _ why: String) -> StoreError {
        binding.refusal.unknown(path, key, of: entity, why)
    }
}

extension BoundAggregate.Function {
    /// - Throws: for members without equal ones under a function that counts each: no store adds these up.
    func check(_ argument: Expression, _ binding: Binding) throws(StoreError) {
        guard [.count, .sum, .average].contains(self), case .keyPath(let path) = argument,
            let distinct = path.first(where: { $0.hasPrefix("@distinctUnion") })
        else { return }
        throw binding.refusal.predicate("\(distinct) in a function that counts or adds up")
    }
}

extension BoundAggregate {
    /// An aggregate over values that it can be made of.
    static func make(
        _ function: Function, _ chain: [BoundMembers], _ operand: BoundOperand, written: String, _ binding: Binding
    ) throws(StoreError) -> BoundOperand {
        let family = operand.family
        switch function {
        case .sum, .average:
            guard family == .number || family == .unknown else {
                throw binding.refusal.nonsense("“\(written)”, which adds up what are no numbers")
            }
        case .minimum, .maximum:
            if operand.isExternal { throw binding.refusal.predicate(ExternalReference.refusal(operand.title)) }
            guard let family, family != .object else {
                throw binding.refusal.nonsense("“\(written)”, which compares what has no order")
            }
        case .count, .item, .last: break
        }
        return .aggregate(BoundAggregate(function: function, chain: chain, operand: function == .count ? nil : operand))
    }
}

extension BoundAggregate.Function {
    var isItem: Bool {
        switch self {
        case .item, .last: true
        case .count, .sum, .average, .minimum, .maximum: false
        }
    }
}

extension BoundOperand {
    /// Whether its bytes may be in a file of their own. They are read and compared by content, and nothing else is made of them.
    package var isExternal: Bool {
        switch self {
        case .path(let path): path.slot?.kind == .externalData
        case .aggregate(let aggregate): aggregate.operand?.isExternal ?? false
        case .value, .call, .conditional, .grouped: false
        }
    }

    /// nil for null.
    package var family: ValueFamily? {
        switch self {
        case .value(.constant(let value)): ValueFamily(of: value)
        case .value(.parameter): .unknown
        case .path(let path): path.family
        case .aggregate(let aggregate):
            switch aggregate.function {
            case .count, .sum, .average: .number
            case .minimum, .maximum, .item, .last: aggregate.operand?.family
            }
        case .call(let name, _): ValueFamily(ofFunction: name)
        case .conditional(_, let first, let second): first.family ?? second.family ?? .unknown
        case .grouped(let value): value.type.family
        }
    }

    /// The name for a sentence.
    var title: String {
        switch self {
        case .value: "a constant"
        case .path(let path):
            switch path.end {
            case .attribute(let slot): path.entity.slots[slot].name
            case .target(let relationship): relationship.name
            case .object: path.hops.last?.name ?? "SELF"
            case .entity: "entity"
            }
        case .aggregate: "a collection operator"
        case .call(let name, _): "the function \(name)"
        case .conditional: "TERNARY"
        case .grouped: "a value of a group"
        }
    }
}

/// Sort keys.
struct SortBinder {
    private let binding: Binding
    init(_ binding: Binding) { self.binding = binding }

    /// Attributes, to-ones and numbers of members.
    func bind(_ term: SortTerm) throws(StoreError) -> BoundSort {
        switch try KeyPathBinder.bind(term.keyPath, from: 0, binding) {
        case .single(let operand):
            guard !operand.isExternal else {
                throw binding.refusal.sort(term.keyPath, "its bytes may be in a file of their own")
            }
            return BoundSort(operand: operand, isAscending: term.isAscending, comparison: term.comparison)
        case .many(let chain, _):
            throw binding.refusal.sort(
                term.keyPath,
                "it leads through the to-many “\(chain[0].relationship.name)”, which has no one value to sort by; sort by "
                    + "attributes, to-ones and @count")
        case .list: throw binding.refusal.sort(term.keyPath, "it is no key path")
        }
    }
}
