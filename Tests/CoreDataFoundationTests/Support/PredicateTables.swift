// Tables that lie beside the project, read in place.

import Foundation

enum SharedTable {
    /// The rows of a table, split at tabs, without comments; nil when the folder is not there.
    static func rows(_ path: String) -> [[String]]? {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let url = root.deletingLastPathComponent().appendingPathComponent("shared").appendingPathComponent(path)
        guard let text = try? String(contentsOf: url, encoding: .utf8) else {
            print("Skipped: \(path) is not beside the project.")
            return nil
        }
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    }
}
