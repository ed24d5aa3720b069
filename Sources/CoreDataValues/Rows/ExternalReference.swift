// The cells of attributes that may be stored in files (Documentation/StoreFormat.md).

import Foundation

/// What a cell of kind `externalData` holds: a tag byte, then the value or the name of its file.
package enum ExternalReference {
    /// The value follows.
    package static let inlineTag: UInt8 = 1
    /// The name of a file follows, 36 characters and a zero byte.
    package static let fileTag: UInt8 = 2
    package static let size = 38
    /// Values longer than this go to a file of their own.
    package static let threshold = 100 * 1024

    /// The name in a cell that refers to a file, nil for a value in the row. Only a UUID is taken for a name,
    /// so that no cell can point out of the folder.
    package static func name(in cell: UnsafeRawBufferPointer) -> String? {
        guard cell.count == size, cell[0] == fileTag, cell[size - 1] == 0 else { return nil }
        let name = String(decoding: cell[1..<size - 1], as: UTF8.self)
        return UUID(uuidString: name) == nil ? nil : name
    }

    /// The bytes of a value that is in its row; nil of one that lies in a file.
    package static func content(_ cell: Data) -> Data? {
        cell.withUnsafeBytes(name) == nil ? Data(cell.dropFirst()) : nil
    }

    /// What a predicate may not ask, as part of a sentence: the bytes may lie outside the table.
    package static func refusal(_ attribute: String) -> String {
        "a calculation with \(attribute), whose bytes may be in a file of their own (it can be compared with data)"
    }

    package static func cell(named name: String) -> Data { Data([fileTag] + Array(name.utf8) + [0]) }
}

extension CommitOutcome {
    package var isCommitted: Bool {
        switch self {
        case .committed: true
        case .conflicts: false
        }
    }
}
