// Property lists as the values that programs see.

import Foundation

extension PropertyListItem {
    /// The value as Foundation's reader makes it; nil for what only archives hold, here or in a part.
    package var value: Any? {
        switch list.nodes[node] {
        case .bool(let flag): return flag
        case .integer(let number): return NSNumber(value: number)
        case .large(let number): return NSNumber(value: number)
        case .real(let number): return NSNumber(value: number)
        case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): return data
        case .text(let text): return text
        case .array: return values
        case .dictionary: return dictionary
        case .reference: return nil
        }
    }

    private var values: [Any]? {
        guard let array else { return nil }
        var values: [Any] = []
        values.reserveCapacity(array.count)
        for item in array {
            guard let value = item.value else { return nil }
            values.append(value)
        }
        return values
    }

    /// The entries of a dictionary of values; nil for anything else. Of equal keys the last one counts.
    fileprivate var items: [String: PropertyListItem]? {
        guard let entries else { return nil }
        var items: [String: PropertyListItem] = [:]
        for (key, item) in zip(entries.keys, entries.values) {
            guard let name = key.text, item.isValue else { return nil }
            items[name] = item
        }
        return items
    }

    /// Whether it is no reference and holds none.
    private var isValue: Bool {
        switch list.nodes[node] {
        case .bool, .integer, .large, .real, .date, .data, .text: true
        case .reference: false
        case .array: array?.allSatisfy(\.isValue) ?? false
        case .dictionary: items != nil
        }
    }

    /// A dictionary as a value; nil for anything else.
    package var dictionary: [String: Any]? {
        guard let entries else { return nil }
        var values: [String: Any] = [:]
        for (key, item) in zip(entries.keys, entries.values) {
            guard let name = key.text, let value = item.value else { return nil }
            values[name] = value
        }
        return values
    }
}

extension PropertyListItem {
    /// The item to be written again.
    package var written: ArchiveNode {
        switch list.nodes[node] {
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .large(let number): return .large(number)
        case .real(let number): return .real(number)
        case .date(let seconds): return .date(seconds)
        case .data(let data): return .data(data)
        case .text(let text): return .text(text)
        case .reference(let place): return .reference(place)
        case .array: return .array(array?.map(\.written) ?? [])
        case .dictionary:
            guard let entries else { return .dictionary([:]) }
            let pairs = zip(entries.keys, entries.values).map { ($0.text ?? "", $1.written) }
            return .dictionary(Dictionary(pairs, uniquingKeysWith: { _, last in last }))
        }
    }
}

extension PropertyList {
    /// A dictionary of values.
    ///
    /// - Throws: as the reader does, and for a list of anything else.
    package static func dictionary(_ data: Data, _ limits: ArchiveLimits) throws(ArchiveError) -> [String: Any] {
        guard let values = try PropertyList(data, limits).top.dictionary else { throw noDictionary }
        return values
    }

    /// The entries of a dictionary of values.
    ///
    /// - Throws: as the reader does, and for a list of anything else.
    package static func items(_ data: Data, _ limits: ArchiveLimits) throws(ArchiveError) -> [String: PropertyListItem]
    {
        guard let items = try PropertyList(data, limits).top.items else { throw noDictionary }
        return items
    }

    private static let noDictionary = ArchiveError("It is no property list of a dictionary.")
}
