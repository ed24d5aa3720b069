// Property lists in XML.

import Foundation

/// Reads one document from front to back, without recursion. A document type may be named, as Apple's lists name theirs, but declare nothing:
/// nothing outside of the bytes is read, and there are no entities but XML's own five and numbered ones.
struct XMLPropertyListReader {
    private struct Container {
        let isDictionary: Bool
        /// The parts so far; keys and values by turns in a dictionary.
        var parts: [Int32] = []
    }
    private var scanner: XMLPropertyListScanner
    private let limits: ArchiveLimits
    private(set) var nodes: [PropertyList.Node] = []
    private(set) var parts: [Int32] = []
    private var open: [Container] = []
    private var top: Int?

    init(_ bytes: [UInt8], _ limits: ArchiveLimits) {
        scanner = XMLPropertyListScanner(bytes)
        self.limits = limits
    }

    /// Answers the number of the outermost node.
    mutating func read() throws(ArchiveError) -> Int {
        var tag = try scanner.next()
        let isWrapped = tag?.name == "plist" && tag?.kind == .start
        if isWrapped { tag = try scanner.next() }
        while let current = tag {
            if isWrapped, top != nil, current.name == "plist", current.kind == .end {
                guard try scanner.next() == nil else { throw scanner.damaged("something follows its end") }
                break
            }
            try consume(current)
            tag = try scanner.next()
        }
        guard let top, open.isEmpty else { throw ArchiveError("It is cut short.") }
        return top
    }

    private mutating func consume(_ tag: XMLPropertyListScanner.Tag) throws(ArchiveError) {
        guard top == nil else { throw scanner.damaged("it holds more than one value") }
        switch (tag.name, tag.kind) {
        case ("dict", .start), ("array", .start):
            guard open.count < limits.depth else { throw limits.tooDeep }
            open.append(Container(isDictionary: tag.name == "dict"))
        case ("dict", .empty), ("array", .empty): try add(container: Container(isDictionary: tag.name == "dict"))
        case ("dict", .end), ("array", .end):
            guard let container = open.popLast(), container.isDictionary == (tag.name == "dict") else {
                throw scanner.damaged("an element ends that was not begun")
            }
            try add(container: container)
        case (_, .end): throw scanner.damaged("an element ends that was not begun")
        case ("key", _):
            guard let container = open.last, container.isDictionary, container.parts.count.isMultiple(of: 2) else {
                throw scanner.damaged("a key stands where none belongs")
            }
            try append(.text(try text(of: tag)))
        default: try add(try leaf(tag, try text(of: tag)))
        }
    }

    private mutating func text(of tag: XMLPropertyListScanner.Tag) throws(ArchiveError) -> String {
        tag.kind == .empty ? "" : try scanner.content(of: tag.name)
    }

    /// Adds a value, which in a dictionary must follow a key.
    private mutating func add(_ node: PropertyList.Node) throws(ArchiveError) {
        if let container = open.last, container.isDictionary, container.parts.count.isMultiple(of: 2) {
            throw scanner.damaged("a value has no key")
        }
        try append(node)
    }

    private mutating func append(_ node: PropertyList.Node) throws(ArchiveError) {
        guard nodes.count < min(limits.nodes, limits.expanded, Int(Int32.max)) else { throw limits.tooLarge }
        nodes.append(node)
        if open.isEmpty { top = nodes.count - 1 } else { open[open.count - 1].parts.append(Int32(nodes.count - 1)) }
    }

    private mutating func add(container: Container) throws(ArchiveError) {
        let first = parts.count
        guard container.isDictionary else {
            parts += container.parts
            return try add(.array(first: first, count: container.parts.count))
        }
        guard container.parts.count.isMultiple(of: 2) else { throw scanner.damaged("a key has no value") }
        if let place = reference(container) { return try add(.reference(place)) }
        for index in stride(from: 0, to: container.parts.count, by: 2) { parts.append(container.parts[index]) }
        for index in stride(from: 1, to: container.parts.count, by: 2) { parts.append(container.parts[index]) }
        try add(.dictionary(first: first, count: container.parts.count / 2))
    }

    /// What keyed archives in XML have for a reference.
    private func reference(_ container: Container) -> Int? {
        guard container.parts.count == 2, case .text("CF$UID") = nodes[Int(container.parts[0])],
            case .integer(let place) = nodes[Int(container.parts[1])], let place = UInt32(exactly: place)
        else { return nil }
        return Int(place)
    }

    // MARK: Values

    private func leaf(_ tag: XMLPropertyListScanner.Tag, _ text: String) throws(ArchiveError) -> PropertyList.Node {
        let node: PropertyList.Node? =
            switch tag.name {
            case "string": .text(text)
            case "true": .bool(true)
            case "false": .bool(false)
            case "integer": Self.integer(text)
            case "real": Double(text.trimmed).map { .real($0) }
            case "date": Self.seconds(text.trimmed).map { .date($0) }
            case "data":
                Data(base64Encoded: Data(text.utf8.filter { !XMLPropertyListScanner.isSpace($0) })).map { .data($0) }
            default: throw scanner.damaged("the element \(tag.name) is unknown")
            }
        guard let node else { throw scanner.damaged("the content of an element \(tag.name) cannot be read") }
        return node
    }

    private static func integer(_ text: String) -> PropertyList.Node? {
        let text = text.trimmed
        let isNegative = text.hasPrefix("-")
        var digits = text.utf8.dropFirst(isNegative || text.hasPrefix("+") ? 1 : 0)
        let isHex = digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8)
        if isHex { digits = digits.dropFirst(2) }
        guard let first = digits.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "+"),
            let magnitude = UInt64(String(decoding: digits, as: UTF8.self), radix: isHex ? 16 : 10)
        else { return nil }
        if isNegative {
            return magnitude <= UInt64(Int64.max) + 1 ? .integer(Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
        }
        return Int64(exactly: magnitude).map { .integer($0) } ?? .large(magnitude)
    }

    /// Seconds since 2001 of a text like 2001-02-03T04:05:06Z.
    private static func seconds(_ text: String) -> Double? {
        let parts = text.utf8.split(separator: UInt8(ascii: "T"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].last == UInt8(ascii: "Z") else { return nil }
        let day = parts[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map(number)
        let time = parts[1].dropLast().split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map(number)
        guard day.count == 3, time.count == 3, let year = day[0], let month = day[1], let date = day[2],
            let hour = time[0], let minute = time[1], let second = time[2],
            (1...12).contains(month), (1...31).contains(date), hour < 24, minute < 60, second < 62
        else { return nil }
        // Days of the Gregorian calendar, of years that begin in March.
        let shifted = month > 2 ? year : year - 1
        let monthOfYear = month > 2 ? month - 3 : month + 9
        let leapDays = shifted / 4 - shifted / 100 + shifted / 400
        let days: Int = 365 * shifted + leapDays + (153 * monthOfYear + 2) / 5 + date - 1
        let hours: Int = (days - 730_791) * 24 + hour
        return Double(hours * 60 + minute) * 60 + Double(second)
    }

    private static func number(_ digits: Substring.UTF8View) -> Int? {
        guard (1...6).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
