// On whose behalf objects are written: it decides whether a write is tracked and whether an undo takes it back.

/// Who writes, and whether that is tracked and undone.
///
/// An inner origin can only switch these off: within a merge, what an object writes while it wakes is not undone
/// either.
struct WriteOrigin {
    enum Writer: UInt8 {
        /// The program, and what follows from its writes: inverses and delete rules.
        case program
        /// An undo or a redo, which the next undo takes back.
        case undo
        /// What another context or writer saved.
        case merge
        /// A row that was read again below an object's changed values.
        case refresh
        /// `rollback()`, which drops all pending changes.
        case rollback
        /// A merge policy that resolves conflicts of a save.
        case policy
        /// Delete rules whose writes belong to the undo of an earlier event.
        case deleteRule
        /// An object in its `awakeFromFetch` or `awake(fromSnapshotEvents:)`.
        case waking
    }

    private(set) var writer = Writer.program
    /// Whether a write marks its object as changed.
    private(set) var isNoticed = true
    /// Whether an undo takes a write back.
    private(set) var isUndone = true

    /// The origin of a block that runs inside one of this origin.
    func inner(_ writer: Writer) -> WriteOrigin {
        var inner = self
        inner.writer = writer
        switch writer {
        case .program, .undo: break
        case .merge, .refresh, .rollback, .policy, .deleteRule: inner.isUndone = false
        case .waking: inner.isNoticed = false
        }
        return inner
    }
}

extension NSManagedObjectContext {
    /// Runs a block whose writes come from another origin than the present one.
    @inline(__always)
    final func writing<Result>(as writer: WriteOrigin.Writer, _ body: () throws -> Result) rethrows -> Result {
        let outer = tracker.origin
        tracker.origin = outer.inner(writer)
        defer { tracker.origin = outer }
        return try body()
    }
}
