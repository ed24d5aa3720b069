// Folders of tests.

import Foundation

/// A folder of a test, removed when it is let go.
///
/// A process that ends at once, as exit tests do, leaves its folders. They bear its number, and the next process takes them away.
package final class Folder {
    private static let prefix = "coredata-"
    private static let place = FileManager.default.temporaryDirectory
    private static let isTidy: Bool = {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        where name.hasPrefix(prefix) {
            let process = name.dropFirst(prefix.count).prefix { $0 != "-" }
            guard let process = Int32(process), kill(process, 0) != 0, errno == ESRCH else { continue }
            try? FileManager.default.removeItem(at: place.appendingPathComponent(name))
        }
        return true
    }()

    package let url: URL

    package init() {
        _ = Folder.isTidy
        url = Folder.place.appendingPathComponent("\(Folder.prefix)\(getpid())-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// What lies in it.
    package func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
}
