// Hears when files of stores change.

import Foundation
import Synchronization

/// Has a look at stores whose files were written to.
///
/// The system tells of writes to a folder's files (inotify), so that a log that is removed and made anew is heard as well. A commit is
/// written to the log before readers see it, by the time that the disk takes: after a write there are several looks, further and
/// further apart. Where the system gives no such watch, files are compared by size and time of change, four times a second.
final class LogWatcher: Sendable {
    static let shared = LogWatcher()

    private struct Folder {
        let watch: Int32
        var stores: [String: [WatchedStore]] = [:]
    }

    private struct State {
        var folders: [String: Folder] = [:]
        /// Those whose folders the system does not watch, with what their files were like.
        var polled: [ObjectIdentifier: (store: WatchedStore, stamp: [Int])] = [:]
        var source: (any DispatchSourceRead)?
        var timer: (any DispatchSourceTimer)?
        /// How many looks a store has had since its file was last written to.
        var looks: [ObjectIdentifier: Int] = [:]
    }
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "CoreData.remoteChanges", qos: .utility)
    /// -1 where the system gives none.
    private let descriptor: Int32

    /// Milliseconds between looks.
    private static let pauses = [0, 2, 10, 40, 150, 500, 1500]

    /// - Parameter polls: whether to compare files even if the system could tell.
    init(polls: Bool = false) { descriptor = polls ? -1 : inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)) }

    deinit { if descriptor >= 0 { close(descriptor) } }

    // MARK: Files

    func add(_ store: WatchedStore) {
        guard let file = store.file?.resolvingSymlinksInPath() else { return }
        let folder = file.deletingLastPathComponent().resolvingSymlinksInPath().path
        state.withLock { state in
            if state.folders[folder] == nil, descriptor >= 0 {
                let watch = inotify_add_watch(descriptor, folder, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE))
                if watch >= 0 { state.folders[folder] = Folder(watch: watch) }
            }
            if state.folders[folder] != nil {
                state.folders[folder]?.stores[file.lastPathComponent, default: []].append(store)
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
            for (path, folder) in state.folders {
                var left = folder
                left.stores = folder.stores.mapValues { $0.filter { $0 !== store } }.filter { !$0.value.isEmpty }
                state.folders[path] = left.stores.isEmpty ? nil : left
                if left.stores.isEmpty { inotify_rm_watch(descriptor, folder.watch) }
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
            guard let name else { return state.folders.values.flatMap { $0.stores.values.joined() } }
            return state.folders.values.first { $0.watch == watch }?.stores[name] ?? []
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

    // MARK: Looking

    private func written(_ store: WatchedStore) {
        let key = ObjectIdentifier(store)
        let isLooking = state.withLock { state in
            defer { state.looks[key] = 0 }
            return state.looks[key] != nil
        }
        if !isLooking { look(store) }
    }

    private func look(_ store: WatchedStore) {
        let key = ObjectIdentifier(store)
        let pause = state.withLock { state -> Int? in
            guard let looks = state.looks[key], looks < Self.pauses.count else {
                state.looks[key] = nil
                return nil
            }
            state.looks[key] = looks + 1
            return Self.pauses[looks]
        }
        guard let pause else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(pause)) { [weak self] in
            store.look()
            self?.look(store)
        }
    }
}
