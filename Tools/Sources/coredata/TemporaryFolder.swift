// A folder for what a command needs for a while.

import Foundation

/// A folder that is gone when the command ends, also by a signal.
struct TemporaryFolder {
    let url: URL
    private let signals: [any DispatchSourceSignal]

    init(named name: String) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        self.url = url
        signals = [SIGINT, SIGTERM].map { number in
            // The source hears it; its usual effect would end the process before that.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                try? FileManager.default.removeItem(at: url)
                _exit(128 + number)
            }
            source.resume()
            return source
        }
    }

    func remove() {
        signals.forEach { $0.cancel() }
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        try? FileManager.default.removeItem(at: url)
    }
}
