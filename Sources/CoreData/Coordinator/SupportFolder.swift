// The folder of external values beside a SQLite store.

import CoreDataValues
import Foundation

/// The hidden folder beside a store with values that are kept in files.
struct SupportFolder {
    let url: URL

    init(store: URL) {
        let name = store.deletingPathExtension().lastPathComponent
        url = store.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT")
    }

    /// Replaces a cell that names a file (Documentation/StoreFormat.md) by the file's content; returns any other cell as it is.
    ///
    /// - Throws: 134080 if the file is missing.
    func inlined(_ cell: Data) throws -> Data {
        let bytes = [UInt8](cell)
        guard bytes.count == 38, bytes[0] == 2, bytes[37] == 0 else { return cell }
        let name = String(decoding: bytes[1..<37], as: UTF8.self)
        guard UUID(uuidString: name) != nil else { return cell }
        let file = url.appendingPathComponent("_EXTERNAL_DATA").appendingPathComponent(name)
        do {
            return Data([1]) + (try Data(contentsOf: file))
        } catch {
            throw StoreError(
                134080,
                "The file \(file.path), which holds a value of the store beside it, cannot be read: "
                    + "\(error.localizedDescription)", path: file.path)
        }
    }
}
