// Hears when files of stores change.

import Foundation
import Synchronization

/// Has a look at stores whose files were written to, each on the store's own queue.
///
/// The system tells of writes to a folder's files (inotify), so that a log that is removed and made anew is heard as well. A commit is
/// written to the log before readers see it, by the time that the disk takes: after a write there are several looks, further and
/// further apart. While somebody writes without pause there is a look every ten milliseconds at most. Where the system gives no such
/// watch, files are compared by size and time of change, four times a second.
final class LogWatcher: Sendable {
    static let shared = LogWatcher()

    /// The looks at a store after a write to its file.
    private struct Looks {
        /// Grows with each write that has them begin anew.
        var series = 0
        var made = 0
        /// Whether the first one of the series is still to come: it sees what is written until then.
        var isFirstAhead = false
        /// While one is under way a write does not begin a series: the next one begins when it has ended.
        var isUnderWay = false
        var isWrittenMeanwhile = false
        /// When the last one ended, in nanoseconds.
        var end: UInt64 = 0
    }

    private struct State {
        /// By the system's number of a folder, which one that is made anew under the same name does not get: stores by their files' names.
        var folders: [Int32: [String: [WatchedStore]]] = [:]
        /// Those whose folders the system does not watch, with what their files were like.
        var polled: [ObjectIdentifier: (store: WatchedStore, stamp: [Int])] = [:]
        var source: (any DispatchSourceRead)?
        var timer: (any DispatchSourceTimer)?
        var looks: [ObjectIdentifier: Looks] = [:]
    }
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "CoreData.remoteChanges.files", qos: .utility)
    /// -1 where the system gives none.
    private let descriptor: Int32

    /// Milliseconds between looks. A disk under load takes seconds from the write to the commit.
    private static let pauses = [10, 40, 150, 500, 1500, 5000, 15000]

    /// - Parameter polls: whether to compare files even if the system could tell.
    init(polls: Bool = false) { descriptor = polls ? -1 : inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)) }

    deinit { if descriptor >= 0 { close(descriptor) } }

    // MARK: Files

    func add(_ store: WatchedStore) {
        guard let file = store.file?.resolvingSymlinksInPath() else { return }
        let folder = file.deletingLastPathComponent().resolvingSymlinksInPath().path
        state.withLock { state in
            // For a folder that is watched already it answers the same number.
            let watch =
                descriptor < 0
                ? -1 : inotify_add_watch(descriptor, folder, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE))
            if watch >= 0 {
                state.folders[watch, default: [:]][file.lastPathComponent, default: []].append(store)
                listen(&state)
            } else {
                state.polled[ObjectIdentifier(store)] = (store, Self.stamp(file))
                poll(&state)
            }
        }
    }

    func remove(_ store: WatchedStore) {
        state.withLock { state in
            state.looks[ObjectIdentifier(store)] = nil
            state.polled[ObjectIdentifier(store)] = nil
            for (watch, files) in state.folders {
                let left = files.mapValues { $0.filter { $0 !== store } }.filter { !$0.value.isEmpty }
                state.folders[watch] = left.isEmpty ? nil : left
                if left.isEmpty { inotify_rm_watch(descriptor, watch) }
            }
            if state.polled.isEmpty {
                state.timer?.cancel()
                state.timer = nil
            }
        }
    }

    // MARK: Hearing

    private func listen(_ state: inout State) {
        guard state.source == nil else { return }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [weak self] in self?.hear() }
        state.source = source
        source.activate()
    }

    /// Reads what the system has to tell: `inotify_event`s, each followed by its file's name.
    private func hear() {
        var changed: [ObjectIdentifier: WatchedStore] = [:]
        withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 8) { buffer in
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                var place = 0
                while place + MemoryLayout<inotify_event>.size <= count {
                    let event = buffer.loadUnaligned(fromByteOffset: place, as: inotify_event.self)
                    place += MemoryLayout<inotify_event>.size
                    let name = buffer[place..<min(place + Int(event.len), count)].prefix { $0 != 0 }
                    place += Int(event.len)
                    let isLost = event.mask & UInt32(IN_Q_OVERFLOW) != 0
                    // The folder is gone, and its number with it.
                    if event.mask & UInt32(IN_IGNORED) != 0 { state.withLock { $0.folders[event.wd] = nil } }
                    for store in stores(event.wd, isLost ? nil : String(decoding: name, as: UTF8.self)) {
                        changed[ObjectIdentifier(store)] = store
                    }
                }
            }
        }
        for store in changed.values { written(store) }
    }

    /// - Parameter name: nil for all, where the system could not keep what it had to tell.
    private func stores(_ watch: Int32, _ name: String?) -> [WatchedStore] {
        state.withLock { state in
            guard let name else { return state.folders.values.flatMap { $0.values.joined() } }
            return state.folders[watch]?[name] ?? []
        }
    }

    private func poll(_ state: inout State) {
        guard state.timer == nil else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(250), repeating: .milliseconds(250), leeway: .milliseconds(50))
        timer.setEventHandler { [weak self] in self?.compare() }
        state.timer = timer
        timer.activate()
    }

    private func compare() {
        let changed = state.withLock { state in
            state.polled.compactMap { key, known -> WatchedStore? in
                guard let file = known.store.file else { return nil }
                let stamp = Self.stamp(file)
                if stamp == known.stamp { return nil }
                state.polled[key]?.stamp = stamp
                return known.store
            }
        }
        for store in changed { written(store) }
    }

    /// Never by opening it: to close a file gives up all locks that the process has on it.
    private static func stamp(_ file: URL) -> [Int] {
        var facts = stat()
        guard stat(file.path, &facts) == 0 else { return [] }
        return [Int(facts.st_size), facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, Int(facts.st_ino)]
    }

    // MARK: Looking, on the store's queue

    private func written(_ store: WatchedStore) {
        let key = ObjectIdentifier(store)
        let first = state.withLock { state -> (series: Int, pause: UInt64)? in
            var looks = state.looks[key] ?? Looks()
            defer { state.looks[key] = looks }
            if looks.isUnderWay { looks.isWrittenMeanwhile = true }
            if looks.isUnderWay || looks.isFirstAhead { return nil }
            looks.series += 1
            (looks.made, looks.isFirstAhead) = (0, true)
            let since = DispatchTime.now().uptimeNanoseconds - looks.end
            return (looks.series, Self.least - min(since, Self.least))
        }
        if let first { look(store, first.series, in: .nanoseconds(Int(first.pause))) }
    }

    /// Nanoseconds that pass between two looks at least.
    private static let least: UInt64 = 10_000_000

    private func look(_ store: WatchedStore, _ series: Int, in pause: DispatchTimeInterval) {
        store.queue.asyncAfter(deadline: .now() + pause) { [weak self] in
            guard let self, self.begin(store, series) else { return }
            store.look()
            if let next = self.end(store, series) { self.look(store, next.series, in: .milliseconds(next.pause)) }
        }
    }

    /// False where the store has left, or was written to again meanwhile.
    private func begin(_ store: WatchedStore, _ series: Int) -> Bool {
        let key = ObjectIdentifier(store)
        return state.withLock { state in
            guard state.looks[key]?.series == series else { return false }
            state.looks[key]?.isFirstAhead = false
            state.looks[key]?.isUnderWay = true
            return true
        }
    }

    /// Answers when the next look is to be, in milliseconds; nil after the last.
    private func end(_ store: WatchedStore, _ series: Int) -> (series: Int, pause: Int)? {
        let key = ObjectIdentifier(store)
        return state.withLock { state in
            guard var looks = state.looks[key], looks.series == series else { return nil }
            if looks.isWrittenMeanwhile {
                looks = Looks(series: series + 1, isFirstAhead: true)
                state.looks[key] = looks
                return (looks.series, Int(Self.least / 1_000_000))
            }
            guard looks.made < Self.pauses.count else {
                state.looks[key] = nil
                return nil
            }
            looks.made += 1
            looks.end = DispatchTime.now().uptimeNanoseconds
            looks.isUnderWay = false
            state.looks[key] = looks
            return (series, Self.pauses[looks.made - 1])
        }
    }
}
