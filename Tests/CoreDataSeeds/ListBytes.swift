/// Binary property lists that are put together object by object, so that they can say what no writer would.
package struct ListBytes {
    private var objects: [[UInt8]] = []

    package init() {}

    /// Adds an object as it is and answers its number.
    @discardableResult
    package mutating func add(_ bytes: [UInt8]) -> Int {
        objects.append(bytes)
        return objects.count - 1
    }

    package mutating func text(_ text: String) -> Int { add(Self.head(5, text.utf8.count) + Array(text.utf8)) }
    package mutating func integer(_ number: UInt64) -> Int { add([0x13] + Self.big(Int(number), 8)) }
    package mutating func real(_ number: Double) -> Int {
        add([0x23] + Self.big(Int(bitPattern: UInt(number.bitPattern)), 8))
    }
    package mutating func data(_ bytes: [UInt8]) -> Int { add(Self.head(4, bytes.count) + bytes) }
    package mutating func reference(_ place: Int) -> Int { add([0x83] + Self.big(place, 4)) }
    package mutating func array(_ parts: [Int]) -> Int { add(Self.array(parts)) }
    package static func array(_ parts: [Int]) -> [UInt8] { head(10, parts.count) + parts.flatMap { big($0, 4) } }

    package mutating func dictionary(_ entries: [(String, Int)]) -> Int {
        let keys = entries.map { text($0.0) }
        return add(Self.head(13, keys.count) + (keys + entries.map(\.1)).flatMap { Self.big($0, 4) })
    }

    /// Arrays in arrays, the innermost empty.
    package mutating func nested(_ depth: Int) -> Int {
        var last = array([])
        for _ in 1..<max(depth, 1) { last = array([last]) }
        return last
    }

    /// Arrays that each hold the next one twice: 2^levels things.
    package mutating func shared(_ levels: Int) -> Int {
        var last = text("ha")
        for _ in 0..<levels { last = array([last, last]) }
        return last
    }

    package mutating func bytes(top: Int) -> [UInt8] {
        var all = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(all.count)
            all += object
        }
        let table = all.count
        for offset in offsets { all += Self.big(offset, 4) }
        return all + [0, 0, 0, 0, 0, 0, 4, 4] + Self.big(objects.count, 8) + Self.big(top, 8) + Self.big(table, 8)
    }

    private static func head(_ kind: UInt8, _ length: Int) -> [UInt8] {
        length < 15 ? [kind << 4 | UInt8(length)] : [kind << 4 | 15, 0x12] + big(length, 4)
    }

    private static func big(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * (size - 1 - $0))) }
    }
}

/// Keyed archives whose objects refer to one another in any way.
package struct ArchiveBytes {
    private var list = ListBytes()
    private var objects: [Int] = []
    private var classes: [String: Int] = [:]

    package init() { objects = [list.text("$null")] }

    /// Adds an object and answers its place.
    @discardableResult
    package mutating func add(_ make: (inout ListBytes) -> Int) -> Int {
        objects.append(make(&list))
        return objects.count - 1
    }

    package mutating func text(_ text: String) -> Int { add { $0.text(text) } }

    /// An object of a class with its members under a name.
    package mutating func object(_ name: String, _ members: [Int], key: String = "NS.objects") -> Int {
        let type = type(name)
        return add { list in
            let references = members.map { list.reference($0) }
            return list.dictionary([("$class", list.reference(type)), (key, list.array(references))])
        }
    }

    /// An object of a class with one object under a name.
    package mutating func object(_ name: String, _ key: String, _ place: Int) -> Int {
        let type = type(name)
        return add { list in list.dictionary([("$class", list.reference(type)), (key, list.reference(place))]) }
    }

    private mutating func type(_ name: String) -> Int {
        if let known = classes[name] { return known }
        let place = add { list in
            list.dictionary([
                ("$classname", list.text(name)), ("$classes", list.array([list.text(name), list.text("NSObject")])),
            ])
        }
        classes[name] = place
        return place
    }

    /// The place that the next object gets, once its class is known.
    package mutating func next(_ name: String) -> Int {
        _ = type(name)
        return objects.count
    }

    package mutating func bytes(root: Int) -> [UInt8] {
        let top = list.dictionary([("root", list.reference(root))])
        let all = list.dictionary([
            ("$archiver", list.text("NSKeyedArchiver")), ("$version", list.integer(100_000)), ("$top", top),
            ("$objects", list.array(objects)),
        ])
        return list.bytes(top: all)
    }
}
