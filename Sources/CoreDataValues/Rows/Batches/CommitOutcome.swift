// What a store answers to a commit.

package enum CommitOutcome: Sendable {
    /// Everything was written. `touched` are rows that the store changed beyond the batch (derived attributes): what is known
    /// of their values is out of date, rows of the batch among them. `overtaken` are those of the batch's touches that another
    /// writer has changed or removed since they were read.
    case committed(touched: [RowKey], overtaken: [RowKey] = [])
    /// Rows that are not as expected; nothing was written.
    case conflicts([Conflict])

    /// Everything was written and nothing else changed.
    package static var committed: CommitOutcome { .committed(touched: []) }
}

/// A row that another writer changed or removed since it was read, or that breaks a uniqueness constraint.
package struct Conflict: Sendable {
    package enum Kind: Sendable {
        /// The row has this version now.
        case changed(version: Int32)
        case deleted
        /// The constraint's attribute names.
        case constraint([String])
    }
    package let key: RowKey
    package let expected: Int32
    package let kind: Kind
    package init(key: RowKey, expected: Int32, kind: Kind) {
        self.key = key
        self.expected = expected
        self.kind = kind
    }
}
