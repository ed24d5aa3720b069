// A folder for what a command needs for a while.

import Foundation

/// A folder that is gone when the command ends, also by a signal.
struct TemporaryFolder {
    let url: URL
    private let signals: [(number: Int32, source: any DispatchSourceSignal)]
    /// Held while the folder is removed, by a signal until the process ends: what then fails for want of the folder waits in `remove`.
    private let removal = NSLock()

    init(named name: String) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(UUID().uuidString)")
        self.url = url
        signals = Self.heard.filter { !Self.isIgnored($0) }.map { [removal] number in
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
            return (number, source)
        }
        // Nobody sees a copy who cannot see the store.
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            remove()
            throw Unusable(errorDescription: "\(url.path) cannot be made: \(error.localizedDescription)")
        }
    }

    /// What ends a command: by hand, by a manager, with its terminal, with who reads its output.
    private static let heard = [SIGINT, SIGTERM, SIGHUP, SIGPIPE]

    /// As `nohup` has it.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN as __sighandler_t?, to: Int.self)
    }

    private struct Unusable: LocalizedError {
        let errorDescription: String?
    }

    func remove() {
        removal.lock()
        defer { removal.unlock() }
        for (number, source) in signals {
            source.cancel()
            signal(number, SIG_DFL)
        }
        try? FileManager.default.removeItem(at: url)
    }
}
