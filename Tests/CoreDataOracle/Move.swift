// The moves of a sequence on three contexts.

/// Two contexts on one coordinator, and a child of the first.
enum Site: String, CaseIterable {
    case first, second, child
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

    /// Values of the attributes that are written.
    struct Fields {
        var text: String?
        var number: Int?
    }
}

enum Move {
    case act(Site, Action)
    /// The child saves into the first context.
    case push
    /// The first context writes everything down and reads it anew.
    case reset
    case clash(Clash)
}

/// What is counted: actions by context and kind, pushes, and clashes by policy.
struct Turn {
    let name: String
    let move: Move
}
