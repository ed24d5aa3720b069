// The naive reference: objects are numbers, relationships lists of numbers, every write follows the words of the documentation.

/// One relationship as the reference knows it.
struct Link {
    var name: String
    var owner: String
    var destination: String
    var isToMany = true
    var isOrdered = false
    var inverse: String?
}

/// Objects and their relationships, both sides written out.
struct Graph: Equatable {
    var entities: [Int: String] = [:]
    var targets: [Int: [String: [Int]]] = [:]

    static let links: [Link] = [
        Link(name: "parent", owner: "Node", destination: "Node", isToMany: false, inverse: "children"),
        Link(name: "children", owner: "Node", destination: "Node", inverse: "parent"),
        Link(name: "friends", owner: "Node", destination: "Node", inverse: "friends"),
        Link(name: "spouse", owner: "Node", destination: "Node", isToMany: false, inverse: "spouse"),
        Link(name: "mentor", owner: "Node", destination: "Node", isToMany: false, inverse: "pupil"),
        Link(name: "pupil", owner: "Node", destination: "Node", isToMany: false, inverse: "mentor"),
        Link(name: "badge", owner: "Node", destination: "Badge", isToMany: false, inverse: "node"),
        Link(name: "tags", owner: "Node", destination: "Tag", inverse: "nodes"),
        Link(name: "list", owner: "Node", destination: "Tag", isOrdered: true, inverse: "lists"),
        Link(name: "steps", owner: "Node", destination: "Step", isOrdered: true, inverse: "node"),
        Link(name: "pet", owner: "Node", destination: "Animal", isToMany: false, inverse: "keepers"),
        Link(name: "zoo", owner: "Node", destination: "Animal", inverse: "keeper"),
        Link(name: "walks", owner: "Node", destination: "Animal", inverse: "walkers"),
        Link(name: "favorite", owner: "Node", destination: "Node", isToMany: false),
        Link(name: "likes", owner: "Node", destination: "Tag"),
        Link(name: "nodes", owner: "Tag", destination: "Node", inverse: "tags"),
        Link(name: "lists", owner: "Tag", destination: "Node", inverse: "list"),
        Link(name: "node", owner: "Step", destination: "Node", isToMany: false, inverse: "steps"),
        Link(name: "node", owner: "Badge", destination: "Node", isToMany: false, inverse: "badge"),
        Link(name: "keepers", owner: "Animal", destination: "Node", inverse: "pet"),
        Link(name: "keeper", owner: "Animal", destination: "Node", isToMany: false, inverse: "zoo"),
        Link(name: "walkers", owner: "Animal", destination: "Node", inverse: "walks"),
    ]

    static func isKind(_ entity: String, of other: String) -> Bool {
        switch other {
        case "Node": entity == "Node" || entity == "Boss"
        case "Animal": entity == "Dog" || entity == "Cat"
        default: entity == other
        }
    }

    static func links(of entity: String) -> [Link] { links.filter { isKind(entity, of: $0.owner) } }

    func inverse(of link: Link) -> Link? {
        link.inverse.flatMap { name in Graph.links.first { $0.name == name && $0.owner == link.destination } }
    }

    subscript(id: Int, link: Link) -> [Int] {
        get { targets[id]?[link.name] ?? [] }
        set { targets[id, default: [:]][link.name] = newValue.isEmpty ? nil : newValue }
    }

    mutating func cut(_ a: Int, _ link: Link, _ b: Int) {
        self[a, link].removeAll { $0 == b }
        if let back = inverse(of: link) { self[b, back].removeAll { $0 == a } }
    }

    mutating func tie(_ a: Int, _ link: Link, _ b: Int) {
        if self[a, link].contains(b) { return }
        if !link.isToMany { for old in self[a, link] { cut(a, link, old) } }
        guard let back = inverse(of: link) else { return self[a, link].append(b) }
        if !back.isToMany { for old in self[b, back] { cut(b, back, old) } }
        self[a, link].append(b)
        if !self[b, back].contains(a) { self[b, back].append(a) }
    }

    mutating func set(_ a: Int, _ link: Link, _ new: [Int]) {
        for old in self[a, link] where !new.contains(old) { cut(a, link, old) }
        for other in new { tie(a, link, other) }
        if link.isOrdered { self[a, link] = new }
    }

    /// Deletes an object; all rules are nullify, references without inverse were cleared before.
    mutating func remove(_ id: Int) {
        for link in Graph.links(of: entities[id] ?? "") { set(id, link, []) }
        entities[id] = nil
        targets[id] = nil
    }
}
