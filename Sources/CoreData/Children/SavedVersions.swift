// Versions and deletions that a context's saves wrote, for the objects of its children.

import CoreDataValues

/// The versions that rows had after successive saves of one context.
///
/// A child's object is based on the version that it read. If only saves of its own family followed, the last of these
/// counts instead: they wrote what it has seen or may overwrite. Another writer's save in between ends that.
final class SavedVersions {
    private struct Run {
        var first: Int32
        var last: Int32
    }

    /// The latest run of each row: versions before it are out of date anyway.
    private var runs: [ObjectKey: Run] = [:]
    private var deleted: Set<ObjectKey> = []

    func note(_ key: ObjectKey, from version: Int32, to next: Int32) {
        // An undo may have inserted it again.
        if !deleted.isEmpty { deleted.remove(key) }
        if runs[key]?.last == version { runs[key]?.last = next } else { runs[key] = Run(first: version, last: next) }
    }

    func noteDeletion(_ key: ObjectKey) {
        runs[key] = nil
        deleted.insert(key)
    }

    func hasDeleted(_ key: ObjectKey) -> Bool { deleted.contains(key) }

    /// The version that counts instead of one that was read.
    func present(_ version: Int32, of key: ObjectKey) -> Int32 {
        guard let run = runs[key], run.first <= version, version < run.last else { return version }
        return run.last
    }
}

extension NSManagedObjectContext {
    /// Notes the versions that a save wrote, before the objects accept the rows.
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

    /// Whether this context or an ancestor has deleted an object, saved or not. The caller holds all of them.
    final func familyHasDeleted(_ key: ObjectKey) -> Bool {
        var context = self
        while true {
            if let object = context.registered(key), object._state.has(.deleted) { return true }
            guard let above = context.parent else { return context.savedVersions?.hasDeleted(key) ?? false }
            context = above
        }
    }
}
