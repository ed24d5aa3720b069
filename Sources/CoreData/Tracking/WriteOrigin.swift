// On whose behalf a context's objects are written to: one value, which says what a write leaves behind.

/// Who writes, and what the context makes of it.
///
/// An origin inside another one can only take away: what is kept from an undo inside a merge stays so while an object wakes there.
struct WriteOrigin {
    enum Writer: UInt8 {
        /// The program, and what follows from its writes: inverses and delete rules.
        case program
        /// An undo or a redo, which the next undo takes back.
        case undo
        /// What another context or writer has saved.
        case merge
        /// A row that was read anew below the changes of an object.
        case refresh
        /// The end of all pending changes.
        case rollback
        /// A merge policy that resolves the conflicts of a save.
        case policy
        /// Delete rules whose work is in the undo of an earlier event.
        case deleteRule
        /// An object that is told of new values (`awakeFromFetch`, `awake(fromSnapshotEvents:)`).
        case waking
    }

    private(set) var writer = Writer.program
    /// Whether a write makes its object a changed one.
    private(set) var isNoticed = true
    /// Whether a write is a step that an undo takes back.
    private(set) var isUndone = true

    /// The origin of what is written inside a block of this one.
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
    /// Runs a block whose writes have another origin than the program.
    @inline(__always)
    final func writing<Result>(as writer: WriteOrigin.Writer, _ body: () throws -> Result) rethrows -> Result {
        let outer = tracker.origin
        tracker.origin = outer.inner(writer)
        defer { tracker.origin = outer }
        return try body()
    }
}
