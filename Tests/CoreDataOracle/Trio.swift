// What three contexts must hold, each move by what is documented.

/// The references of three contexts over one store.
///
/// A rule keeps them comparable: while one context has something pending, the others stand by. The first and its child may both
/// be busy, the child on top. Whoever saves is merged into the other; a child that fell behind starts anew from its parent.
struct Trio {
    private(set) var first = Reference()
    private(set) var second = Reference()
    private(set) var child = Reference()
    /// The child has not seen what its parent did since.
    private(set) var isChildBehind = false
    /// What the child has changed in its parent since that was last saved: compared with what the child has read, whatever the parent
    /// hears of others meanwhile.
    private var pushed: Set<Int> = []

    subscript(site: Site) -> Reference {
        switch site {
        case .first: first
        case .second: second
        case .child: child
        }
    }

    /// Numbers are given once, by whichever context.
    var count: Int { max(first.count, second.count, child.count) }

    var areAllClean: Bool { first.isClean && second.isClean && (isChildBehind || isChildIdle) }

    /// Nothing of the child's own is pending.
    private var isChildIdle: Bool { isChildBehind || child.isClean }

    func isApplicable(_ move: Move) -> Bool {
        switch move {
        case .act(.child, .save): false  // it is a push
        case .act(.first, let action): second.isClean && isChildIdle && action.isApplicable(in: first)
        case .act(.second, let action): first.isClean && isChildIdle && action.isApplicable(in: second)
        case .act(.child, let action): second.isClean && first.isProcessed && action.isApplicable(in: caughtUp.child)
        case .push: second.isClean && !isChildBehind && first.isProcessed
        case .reset: areAllClean
        case .clash(let clash): areAllClean && isApplicable(clash)
        case .interrupt(let site, let interruption):
            isChildIdle && self[site.other].isClean && self[site].canTake(interruption)
                && interruption.action.isApplicable(in: self[site.other])
                && (site == .second || pushed.isDisjoint(with: second.graph.around(interruption.id)))
        }
    }

    /// Whether both sides change something, and all that they name is there.
    private func isApplicable(_ clash: Clash) -> Bool {
        guard let old = second.graph[clash.id] else { return false }
        let named = [clash.ours, clash.theirs].compactMap { $0 }.flatMap {
            Array($0.doctors.keys) + [$0.ward ?? nil].compactMap { $0 }
        }
        return clash.changes(old) && named.allSatisfy { second.graph[$0] != nil }
            && (clash.ours != nil || old.partners.isEmpty)
    }

    /// This state once the child has started anew, if it must.
    private var caughtUp: Trio {
        var trio = self
        trio.catchUp()
        return trio
    }

    mutating func catchUp() {
        guard isChildBehind else { return }
        child.adopt(first.graph, first.weights, count: count)
        isChildBehind = false
    }

    mutating func apply(_ move: Move) {
        switch move {
        case .act(.first, let action):
            first.apply(action)
            isChildBehind = true
            if case .save = action {
                second.adopt(first.graph, first.weights, count: count)
                pushed = []
            }
        case .act(.second, let action):
            second.apply(action)
            if case .save = action { merge(second) }
        case .act(.child, let action):
            catchUp()
            child.apply(action)
        case .push:
            child.apply(.save)
            let former = first.graph
            first.accept(child)
            pushed.formUnion(Set(former.keys).union(first.graph.keys).filter { former[$0] != first.graph[$0] })
        case .reset: adoptEverywhere(first.committed, first.committedWeights)
        case .clash(let clash): resolve(clash)
        case .interrupt(.first, let interruption):
            second.apply(interruption.action)
            second.apply(.save)
            first.take(interruption)
            isChildBehind = true
        case .interrupt(_, let interruption):
            first.apply(interruption.action)
            first.apply(.save)
            second.take(interruption)
            isChildBehind = true
        }
    }

    /// What another context saved is in the first, and the child starts anew.
    private mutating func merge(_ other: Reference) {
        first.adopt(other.committed, other.committedWeights, count: count)
        isChildBehind = true
        pushed = []
    }

    private mutating func adoptEverywhere(_ graph: Graph, _ weights: [Int: Double]) {
        second.adopt(graph, weights, count: count)
        merge(second)
    }

    // MARK: Conflicts

    /// The table of the merge policies: attribute by attribute what was written on one side or on both.
    private mutating func resolve(_ clash: Clash) {
        guard let old = second.graph[clash.id] else { return }
        var graph = second.graph
        var weights = second.weights
        let ours = clash.ours.map { old.writing($0) }
        if let ours { graph[clash.id] = ours } else { graph.remove(clash.id) }
        switch (clash.policy, ours) {
        case (.error, _), (.rollback, _), (.storeTrump, nil): break
        case (.storeTrump, let ours?):
            graph[clash.id] = old.writing(clash.theirs).writing(clash.ours, over: ours, from: old).joining(
                ours, clash.theirs)
        case (.objectTrump, let ours?):
            graph[clash.id] = ours.writing(clash.theirs.changed(from: old)).joining(ours, clash.theirs)
        case (.overwrite, let ours?): graph[clash.id] = old.writing(clash.theirs).joining(ours, clash.theirs)
        case (.objectTrump, nil), (.overwrite, nil): graph[clash.id] = old.writing(clash.theirs)
        }
        if graph[clash.id] == nil { weights[clash.id] = nil }
        adoptEverywhere(graph, weights)
    }
}

extension Graph {
    /// An object and those whose rows a change of it concerns.
    fileprivate func around(_ id: Int) -> Set<Int> {
        let owners = filter { $1.partners.contains(id) }.keys
        return (self[id]?.partners ?? []).union(owners).union([id])
    }
}

extension Node {
    func writing(_ fields: Clash.Fields) -> Node {
        var node = self
        if let text = fields.text { node.text = text }
        if let number = fields.number { node.number = number }
        if let ward = fields.ward { node.ward = ward }
        for (doctor, isPresent) in fields.doctors {
            if isPresent { node.doctors.insert(doctor) } else { node.doctors.remove(doctor) }
        }
        return node
    }

    /// Pairs that one side added or removed stay so, whatever the other did (6.3).
    fileprivate func joining(_ ours: Node, _ theirs: Clash.Fields) -> Node {
        var node = self
        node.doctors = ours.writing(theirs).doctors
        return node
    }

    /// The fields that the store's writer wrote are the store's.
    fileprivate func writing(_ fields: Clash.Fields?, over store: Node, from old: Node) -> Node {
        var node = self
        if fields?.text != nil, store.text != old.text { node.text = store.text }
        if fields?.number != nil, store.number != old.number { node.number = store.number }
        if fields?.ward != nil, store.ward != old.ward { node.ward = store.ward }
        return node
    }
}

extension Clash.Fields {
    fileprivate func changed(from old: Node) -> Clash.Fields {
        Clash.Fields(
            text: text == old.text ? nil : text, number: number == old.number ? nil : number,
            ward: ward == .some(old.ward) ? nil : ward, doctors: doctors)
    }
}

extension Clash {
    /// Whether both sides change an attribute: an equal value is no conflict.
    fileprivate func changes(_ old: Node) -> Bool {
        func changes(_ fields: Fields) -> Bool {
            let new = old.writing(fields)
            return new.text != old.text || new.number != old.number
        }
        return changes(theirs) && ours.map(changes) ?? true
    }
}
