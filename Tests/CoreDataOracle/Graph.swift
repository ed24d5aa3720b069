// What the sequences work on: a small graph as plain values, and what a reader sees of it.

/// The kinds of objects that the sequences use, with the names that the model gives them.
enum Role: String, CaseIterable {
    case patient = "Patient"
    case ward = "Ward"
    case doctor = "Doctor"
    case visit = "Visit"
    case bed = "Bed"

    var textKey: String? {
        switch self {
        case .patient, .ward, .doctor: "name"
        case .visit: "note"
        case .bed: nil
        }
    }

    var numberKey: String? {
        switch self {
        case .patient: "age"
        case .ward: "beds"
        case .bed: "number"
        case .doctor, .visit: nil
        }
    }
}

/// One object. Relationships stand on the patient's side only; the other side is what follows from it.
struct Node: Equatable {
    var role: Role
    var text: String?
    var number: Int?
    var ward: Int?
    var bed: Int?
    var doctors: Set<Int> = []
    var visits: [Int] = []

    var partners: Set<Int> { doctors.union(visits).union([ward, bed].compactMap { $0 }) }
}

typealias Graph = [Int: Node]

/// One object as a reader sees it, both sides of its relationships included.
struct View: Equatable {
    var text: String?
    var number: Int?
    var weight: Double?
    var targets: [Int?] = []
    var doctors: Set<Int> = []
    var visits: [Int] = []
    var patients: Set<Int> = []
}

extension [Int: Node] {
    /// One object as it looks in this graph, nil when it is not there.
    func view(_ id: Int, _ weights: [Int: Double]) -> View? {
        guard let node = self[id] else { return nil }
        var view = View(text: node.text, number: node.number, weight: weights[id])
        switch node.role {
        case .patient:
            view.targets = [node.ward, node.bed]
            view.doctors = node.doctors
            view.visits = node.visits
        case .ward: view.patients = patients { $0.ward == id }
        case .doctor: view.patients = patients { $0.doctors.contains(id) }
        case .visit: view.targets = [patients { $0.visits.contains(id) }.first]
        case .bed: view.targets = [patients { $0.bed == id }.first]
        }
        return view
    }

    private func patients(_ fits: (Node) -> Bool) -> Set<Int> { Set(filter { fits($0.value) }.keys) }

    /// The objects that look different in another graph, on either side of a relationship.
    func difference(from former: Graph) -> Set<Int> {
        var different: Set<Int> = []
        for id in Set(former.keys).union(keys) where former[id] != self[id] {
            let (old, new) = (former[id]?.partners ?? [], self[id]?.partners ?? [])
            different.formUnion(old.symmetricDifference(new).union([id]))
        }
        return different
    }

    /// Takes an object away, and everything that points at it.
    mutating func remove(_ id: Int) {
        self[id] = nil
        for other in keys { self[other]?.forget(id) }
    }

    func removing(_ id: Int) -> Graph {
        var graph = self
        graph.remove(id)
        return graph
    }
}

extension Node {
    /// Nothing points at an object that is gone.
    fileprivate mutating func forget(_ id: Int) {
        if ward == id { ward = nil }
        if bed == id { bed = nil }
        doctors.remove(id)
        visits.removeAll { $0 == id }
    }
}
