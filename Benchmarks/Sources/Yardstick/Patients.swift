// The rows that every contender writes and expects to read: the same as rows.c makes, number by number.

import Foundation

/// One patient before it belongs to a contender.
public struct PatientRow: Sendable {
    public var id: Int64
    public var name: String
    public var age: Int64
    public var admitted: Date
    public var weight: Double
    public var note: String?
    public var photo: Data?
    public var injury: Int64

    public init(
        id: Int64, name: String, age: Int64, admitted: Date, weight: Double, note: String?, photo: Data?,
        injury: Int64
    ) {
        self.id = id
        self.name = name
        self.age = age
        self.admitted = admitted
        self.weight = weight
        self.note = note
        self.photo = photo
        self.injury = injury
    }
}

/// The generator. Names take 5 to 25 bytes; every second row has a note of 68, every tenth a photo of 1,024.
public enum Patients {
    private static let given = [
        "Ada", "Bo", "Cecilia", "David", "Eve", "Fredrik", "Gunhild", "Hal", "Ingegerd", "Jo", "Katarina",
        "Lars", "Maximilian", "Nils", "Olof", "Per",
    ]
    private static let family = [
        "Lindqvist", "Berg", "Ek", "Andersson", "Sandstrom", "Holm", "Ng", "Wickramasinghe", "Olsen",
        "Strand",
        "Nyberg", "Ahl", "Forsberg", "Kjellgren", "Lo", "Dahl", "Engstrom", "Hellman", "Soderberg", "Bystrom",
        "Falk", "Grahn", "Hedlund", "Isaksson", "Jonsson", "Karlsson", "Ljung", "Magnusson", "Norrby",
        "Oberg",
        "Palm", "Rask",
    ]

    /// How many injuries a database of `rows` patients has.
    public static func injuries(of rows: Int) -> Int { max(10, rows / 100) }

    public static func injuryName(_ id: Int) -> String { "Injury number \(id)" }

    public static func name(_ index: Int) -> String {
        var name = given[index & 15] + " " + family[(index >> 4) & 31]
        name.makeContiguousUTF8()
        return name
    }

    public static func row(_ index: Int, of rows: Int) -> PatientRow {
        let name = name(index)
        let digits = String(index)
        let padded = String(repeating: "0", count: max(0, 7 - digits.utf8.count)) + digits
        return PatientRow(
            id: Int64(index + 1), name: name, age: 1 + (Int64(index) * 7919) % 90,
            admitted: Date(
                timeIntervalSinceReferenceDate: epoch + Double((Int64(index) * 104_729) % 31_536_000)),
            weight: 40 + Double((Int64(index) * 37) % 800) / 10,
            note: index.isMultiple(of: 2)
                ? "Patient note \(padded): stable, observe overnight and review at eight." : nil,
            photo: index.isMultiple(of: 10)
                ? Data((0..<1024).map { UInt8(truncatingIfNeeded: index + $0) }) : nil,
            injury: Int64(1 + index % injuries(of: rows)))
    }

    /// The moment that a request asks for; at least a hundredth of the year lies behind it.
    public static func requested(_ number: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: epoch + Double((Int64(number) * 7919 * 3600) % 31_000_000))
    }

    /// What a batch insertion writes: attributes alone; an injury of 0 is none.
    public static func withoutInjuries(_ rows: Int) -> [PatientRow] {
        (0..<rows).map { index in
            var row = row(index, of: rows)
            row.injury = 0
            return row
        }
    }

    public static func all(_ rows: Int) -> [PatientRow] { (0..<rows).map { row($0, of: rows) } }

    /// The first moment at which anyone is admitted, in seconds since 2001.
    public static let epoch = 700_000_000.0

    /// All keys in an order without pattern, the same in every program: half are looked up, half warm the way.
    public static func shuffledKeys(_ rows: Int) -> (measured: [Int64], warming: [Int64]) {
        var keys = (1...Int64(rows)).map { $0 }
        var state: UInt64 = 88_172_645_463_325_252
        for index in stride(from: rows - 1, to: 0, by: -1) {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            keys.swapAt(index, Int(state % UInt64(index + 1)))
        }
        return (Array(keys[..<(rows / 2)]), Array(keys[(rows / 2)...]))
    }
}

/// What a contender read, so that none can win by reading less.
///
/// The marks of single rows are computed where the rows are, without calls between modules.
public struct Checksum: Sendable {
    public var whole: Int64
    public var weight: Double
    @inlinable
    public init(whole: Int64 = 0, weight: Double = 0) {
        self.whole = whole
        self.weight = weight
    }

    /// Adds every attribute of one row.
    @inlinable @inline(__always)
    public mutating func add(
        name: String, age: Int64, admitted: Date, weight: Double, note: String?, photo: Data?
    ) {
        whole &+= Int64(name.utf8.count &+ (note?.utf8.count ?? 0) &+ (photo?.count ?? 0)) &+ age
        whole &+= Int64(admitted.timeIntervalSinceReferenceDate - 700_000_000)
        self.weight += weight
    }

    @inlinable @inline(__always)
    public mutating func add(_ number: Int64) { whole &+= number }

    public mutating func add(_ other: Checksum) {
        whole &+= other.whole
        weight += other.weight
    }
}
