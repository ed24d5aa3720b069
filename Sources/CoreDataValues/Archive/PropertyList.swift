// A property list as a table of nodes.

import Foundation

/// A property list that was read whole and measured.
///
/// Nodes name their parts by number, so that nothing is read or kept twice that several parts share. Whoever walks it from the top, with or
/// without recursion, meets no more things, and no deeper ones, than the limits that it was read under.
package final class PropertyList: Sendable {
    enum Node: Sendable {
        case bool(Bool)
        case integer(Int64)
        case large(UInt64)
        case real(Double)
        case date(Double)
        case data(Data)
        case text(String)
        case reference(Int)
        /// Where its parts begin among all parts.
        case array(first: Int, count: Int)
        /// So many keys, and then as many values.
        case dictionary(first: Int, count: Int)
    }
    let nodes: [Node]
    /// The parts of all containers, one after the other.
    let parts: [Int32]
    private let topNode: Int

    init(nodes: [Node], parts: [Int32], top: Int) {
        self.nodes = nodes
        self.parts = parts
        topNode = top
    }

    /// Reads a binary property list, or one in XML as UTF-8.
    ///
    /// - Throws: for data that is neither, is damaged, or is more than the limits say. No data makes it trap or go on without end.
    package convenience init(_ data: Data, _ limits: ArchiveLimits) throws(ArchiveError) {
        try limits.check(bytes: data.count)
        let bytes = [UInt8](data)
        if bytes.starts(with: PropertyList.binaryMark) {
            try self.init(binary: bytes, limits)
        } else {
            try self.init(xml: bytes, limits)
        }
    }

    private convenience init(binary bytes: [UInt8], _ limits: ArchiveLimits) throws(ArchiveError) {
        var reader = try BinaryPropertyListReader(bytes, limits)
        try reader.read()
        self.init(nodes: reader.nodes, parts: reader.parts, top: reader.top)
        try Expansion.check(from: topNode, of: nodes.count, limits, part: part)
    }

    private convenience init(xml bytes: [UInt8], _ limits: ArchiveLimits) throws(ArchiveError) {
        var reader = XMLPropertyListReader(bytes, limits)
        let top = try reader.read()
        self.init(nodes: reader.nodes, parts: reader.parts, top: top)
    }

    /// How binary property lists begin.
    package static let binaryMark = Array("bplist0".utf8)

    package var top: PropertyListItem { PropertyListItem(list: self, node: topNode) }

    private func part(_ node: Int, _ index: Int) -> Int? {
        switch nodes[node] {
        case .array(let first, let count): index < count ? Int(parts[first + index]) : nil
        case .dictionary(let first, let count): index < 2 * count ? Int(parts[first + index]) : nil
        case .bool, .integer, .large, .real, .date, .data, .text, .reference: nil
        }
    }
}

/// One thing of a property list. What it is not, it answers nil for.
package struct PropertyListItem: Sendable {
    let list: PropertyList
    let node: Int

    private var content: PropertyList.Node { list.nodes[node] }

    package var text: String? { if case .text(let text) = content { text } else { nil } }
    package var data: Data? { if case .data(let data) = content { data } else { nil } }
    package var bool: Bool? { if case .bool(let flag) = content { flag } else { nil } }
    package var integer: Int64? { if case .integer(let number) = content { number } else { nil } }
    /// The place of an object in a keyed archive's list.
    package var reference: Int? { if case .reference(let place) = content { place } else { nil } }

    /// A number of any kind, or seconds since 2001.
    package var real: Double? {
        switch content {
        case .real(let number), .date(let number): number
        case .integer(let number): Double(number)
        case .large(let number): Double(number)
        case .bool, .data, .text, .reference, .array, .dictionary: nil
        }
    }

    package var array: PropertyListItems? {
        guard case .array(let first, let count) = content else { return nil }
        return PropertyListItems(list: list, range: first..<first + count)
    }

    /// The keys and the values of a dictionary.
    package var entries: (keys: PropertyListItems, values: PropertyListItems)? {
        guard case .dictionary(let first, let count) = content else { return nil }
        let middle = first + count
        return (
            PropertyListItems(list: list, range: first..<middle),
            PropertyListItems(list: list, range: middle..<middle + count)
        )
    }

    /// The value of a dictionary for a key, of equal keys the last. Looks at every key.
    package subscript(_ key: String) -> PropertyListItem? {
        guard let entries, let index = entries.keys.lastIndex(where: { $0.text == key }) else { return nil }
        return entries.values[entries.values.startIndex + index - entries.keys.startIndex]
    }
}

/// Parts of one container.
package struct PropertyListItems: RandomAccessCollection, Sendable {
    let list: PropertyList
    let range: Range<Int>

    package var startIndex: Int { range.lowerBound }
    package var endIndex: Int { range.upperBound }
    package subscript(_ index: Int) -> PropertyListItem { PropertyListItem(list: list, node: Int(list.parts[index])) }
}
