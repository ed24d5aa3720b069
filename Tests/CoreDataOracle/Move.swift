// The moves of a sequence on three contexts.

/// Two contexts on one coordinator, and a child of the first.
enum Site: String, CaseIterable {
    case first, second, child

    /// The other of the two contexts on the coordinator.
    var other: Site { self == .first ? .second : .first }
}

/// How the second context resolves a conflict with the first.
enum Policy: String, CaseIterable {
    case error, storeTrump, objectTrump, overwrite, rollback
}

/// What two contexts do to the same object, the first saving before the second.
struct Clash {
    let id: Int
    /// What the first writes; nil when it deletes the object.
    let ours: Fields?
    let theirs: Fields
    let policy: Policy

    /// What is written: values of attributes, of a patient also the ward, and doctors that come or go.
    struct Fields {
        var text: String?
        var number: Int?
        var ward: Int??
        var doctors: [Int: Bool] = [:]
    }
}

/// What another context saves while one has changes pending, told to it at once.
enum Interruption {
    case number(Int, Int)
    case delete(Int)

    var id: Int {
        switch self {
        case .number(let id, _), .delete(let id): id
        }
    }

    var action: Action {
        switch self {
        case .number(let id, let number): .number(id, number)
        case .delete(let id): .delete(id)
        }
    }
}

enum Move {
    case act(Site, Action)
    /// The child saves into the first context.
    case push
    /// The first context writes everything down and reads it anew.
    case reset
    case clash(Clash)
    /// The first or the second context hears what the other one saves, in the midst of its work.
    case interrupt(Site, Interruption)
}

/// What is counted: actions by context and kind, pushes, and clashes by policy.
struct Turn {
    let name: String
    let move: Move
}
