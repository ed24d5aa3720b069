// A folder for what a command needs for a while.

import Foundation

/// A folder that is gone when the command ends, also by a signal.
struct TemporaryFolder {
    let url: URL
    private let signals: [any DispatchSourceSignal]
    /// Held while the folder is removed, by a signal until the process ends: what then fails for want of the folder waits in `remove`.
    private let removal = NSLock()

    init(named name: String) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        self.url = url
        signals = [SIGINT, SIGTERM].map { [removal] number in
            // The source hears it; its usual effect would end the process before that.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                removal.lock()
                // The command goes on meanwhile: a file that it makes between a look and the removal would keep the folder.
                for _ in 0..<10 where FileManager.default.fileExists(atPath: url.path) {
                    try? FileManager.default.removeItem(at: url)
                }
                _exit(128 + number)
            }
            source.resume()
            return source
        }
    }

    func remove() {
        removal.lock()
        defer { removal.unlock() }
        signals.forEach { $0.cancel() }
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        try? FileManager.default.removeItem(at: url)
    }
}
