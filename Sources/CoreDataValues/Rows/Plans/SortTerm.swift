// One key of a sort order.

/// One key of a sort order. Null sorts before everything; texts compare by Unicode scalar unless asked otherwise.
package struct SortTerm: Sendable, Hashable, Codable {
    package enum Comparison: Sendable, Hashable, Codable {
        case binary, caseInsensitive, localized, localizedCaseInsensitive, localizedStandard
    }
    package var keyPath: [String]
    package var isAscending = true
    package var comparison: Comparison = .binary
    package init(keyPath: [String], isAscending: Bool = true, comparison: Comparison = .binary) {
        self.keyPath = keyPath
        self.isAscending = isAscending
        self.comparison = comparison
    }
}
