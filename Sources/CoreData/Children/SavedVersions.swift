// What a context's saves have made of rows, for the objects that its children hold: their versions, and which are deleted.

import CoreDataValues

/// The versions that the saves of one context have taken rows through, one after the other.
///
/// A child's object stands at the version that it was read at. Where only saves of its own family came after, it stands at the last of
/// these: they wrote what it has seen, or what it may overwrite. Another writer's save between ends that.
final class SavedVersions {
    private struct Run {
        var first: Int32
        var last: Int32
    }

    /// The latest run of each row: what stands before it is out of date anyhow.
    private var runs: [ObjectKey: Run] = [:]
    private var deleted: Set<ObjectKey> = []

    func note(_ key: ObjectKey, from version: Int32, to next: Int32) {
        // An undo may have brought it back.
        if !deleted.isEmpty { deleted.remove(key) }
        if runs[key]?.last == version { runs[key]?.last = next } else { runs[key] = Run(first: version, last: next) }
    }

    func noteDeletion(_ key: ObjectKey) {
        runs[key] = nil
        deleted.insert(key)
    }

    func hasDeleted(_ key: ObjectKey) -> Bool { deleted.contains(key) }

    /// What a version of a row has become.
    func present(_ version: Int32, of key: ObjectKey) -> Int32 {
        guard let run = runs[key], run.first <= version, version < run.last else { return version }
        return run.last
    }
}

extension NSManagedObjectContext {
    /// Notes what versions a save has given, before the written rows become those of their objects.
    @inline(never)
    final func noteVersions(of written: some Sequence<WrittenRow>) {
        let versions = versionsToNote()
        for row in written {
            let next = row.chunk._withUnsafeGuaranteedRef { $0.row(row.row).version($0.layout) }
            row.object._withUnsafeGuaranteedRef { versions.note($0._state.key, from: $0.comparedVersion, to: next) }
        }
    }

    @inline(never)
    final func noteDeletions(_ deleted: ContiguousArray<NSManagedObject>) {
        let versions = versionsToNote()
        deleted.borrowEach { versions.noteDeletion($0._state.key) }
    }

    private final func versionsToNote() -> SavedVersions {
        let versions = savedVersions ?? SavedVersions()
        savedVersions = versions
        return versions
    }

    /// Whether this context or one above it has deleted an object, in a save or since. The caller holds all of them.
    final func familyHasDeleted(_ key: ObjectKey) -> Bool {
        var context = self
        while true {
            if let object = context.registered(key), object._state.has(.deleted) { return true }
            guard let above = context.parent else { return context.savedVersions?.hasDeleted(key) ?? false }
            context = above
        }
    }

    /// A base as the saves of the topmost context have left it. The caller holds that context.
    final func renewed(_ base: PushBase, of object: NSManagedObject) -> PushBase {
        guard let versions = topmost.savedVersions else { return base }
        return PushBase(version: versions.present(base.version, of: object._state.key), snapshot: base.snapshot)
    }
}
