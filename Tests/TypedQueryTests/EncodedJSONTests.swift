// JSON that is written without an encoder's containers says what the encoder would have said.

import CoreDataSeeds
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("JSON of encoded objects") struct EncodedJSONTests {
    private static func text(_ random: inout SplitMix) -> String {
        let scalars: [Unicode.Scalar] = [
            "a", "\"", "\\", "/", "\u{0}", "\u{1F}", "\n", "\r", "\t", "\u{8}", "\u{C}", "\u{7F}", "é", "\u{2028}", "🩹",
            " ",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            text.append(scalars.randomElement(using: &random) ?? "a")
        }
        return String(text)
    }

    private static func values(_ random: inout SplitMix) -> [String: Any] {
        let reals = [
            0, -0.0, 1, -1.5, 1e20, 1e-7, 123_456_789.125, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e16,
            0.1,
        ]
        var values: [String: Any] = [
            "small": Int16.random(in: .min ... .max, using: &random), "isOpen": Bool.random(using: &random),
            "large": [Int64.min, .max, 0, -1, .random(in: .min ... .max, using: &random)].randomElement(using: &random)
                ?? 0,
            "real": reals.randomElement(using: &random) ?? 0,
            "short": Float(reals.randomElement(using: &random).map { abs($0) < 1e30 ? $0 : 2 } ?? 0),
        ]
        func maybe(_ key: String, _ value: (inout SplitMix) -> Any) {
            if Bool.random(using: &random) { values[key] = value(&random) }
        }
        maybe("note") { text(&$0) }
        maybe("price") {
            NSDecimalNumber(
                mantissa: .random(in: 0...UInt64.max, using: &$0), exponent: -.random(in: 0...20, using: &$0),
                isNegative: .random(using: &$0))
        }
        maybe("sent") { Date(timeIntervalSince1970: .random(in: -12_000_000_000...250_000_000_000, using: &$0)) }
        maybe("bytes") { random in
            Data((0..<Int.random(in: 0...50, using: &random)).map { _ in .random(in: 0...255, using: &random) })
        }
        maybe("code") { random in
            UUID(
                uuidString:
                    "E621E1F8-C36C-495A-93FC-0C247A3E\(String(format: "%04X", Int.random(in: 0...65535, using: &random)))"
            ) ?? UUID()
        }
        maybe("page") { _ in URL(string: "https://example.org/a/b?c=%22d%22") ?? URL(fileURLWithPath: "/") }
        maybe("words") { [text(&$0), "x"] }
        maybe("place") { random in
            ["latitude": Double.random(in: -90...90, using: &random), "name": text(&random)] as [String: Any]
        }
        return values
    }

    private static let encoders: [JSONEncoder] = {
        let dates: [JSONEncoder.DateEncodingStrategy] = [
            .deferredToDate, .iso8601, .secondsSince1970, .millisecondsSince1970,
        ]
        var encoders = dates.map { strategy in
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = strategy
            return encoder
        }
        func with(_ change: (JSONEncoder) -> Void) {
            let encoder = JSONEncoder()
            change(encoder)
            encoders.append(encoder)
        }
        with { $0.outputFormatting = .withoutEscapingSlashes }
        with { $0.outputFormatting = [.sortedKeys, .prettyPrinted] }
        with {
            $0.dateEncodingStrategy = .custom { date, encoder in
                var box = encoder.singleValueContainer(); try box.encode("\(date)")
            }
        }
        with { $0.dataEncodingStrategy = .deferredToData }
        with { $0.keyEncodingStrategy = .convertToSnakeCase }
        return encoders
    }()

    @Test(
        "What is written is what the encoder writes, value by value, for values of every type and encoders of every strategy"
    )
    func agreement() throws {
        let stack = try EncodedValueTests.stack(NSInMemoryStoreType)
        var random = SplitMix(15)
        for _ in 0..<300 { _ = stack.context.make("Parcel", Self.values(&random)) }
        let parcels = try stack.context.fetch(NSFetchRequest<Parcel>(entityName: "Parcel"))
        for form in [
            EncodingForm<Parcel>(
                \.small, \.large, \.real, \.short, \.price, \.isOpen, \.note, \.sent, \.bytes, \.code, \.page, \.words,
                \.latitude, \.shout),
            EncodingForm<Parcel>(\.objectID, \.sent, \.note, \.latitude).adding(\.note, as: "a/\"b").writingNulls(),
        ] {
            let encoded = try parcels.encoded(form)
            for encoder in Self.encoders {
                let (ours, theirs) = (try encoded.json(by: encoder), try encoder.encode(encoded))
                #expect(
                    try JSONSerialization.jsonObject(with: ours) as? NSArray == JSONSerialization.jsonObject(
                        with: theirs) as? NSArray)
                #expect(ours.count == theirs.count)
                let first = try encoded[0].json(by: encoder)
                #expect(
                    try JSONSerialization.jsonObject(with: first) as? NSDictionary
                        == JSONSerialization.jsonObject(with: encoder.encode(encoded[0])) as? NSDictionary)
            }
        }
        let none = try Array(parcels[..<0]).encoded(\.note)
        #expect(try none.json(by: JSONEncoder()) == Data("[]".utf8))
    }

    @Test("Dates of all years are written as Foundation writes them")
    func dates() throws {
        let stack = try EncodedValueTests.stack(NSInMemoryStoreType)
        var random = SplitMix(16)
        let edges: [TimeInterval] = [
            -12_212_553_600, -12_212_553_601, 253_402_300_799.9, 253_402_300_800, 0, -0.5, 951_782_400, 4_107_542_400,
            -86_400, -86_401,
        ]
        let times = edges + (0..<3000).map { _ in .random(in: -12_300_000_000...254_000_000_000, using: &random) }
        for time in times { _ = stack.context.make("Parcel", ["sent": Date(timeIntervalSince1970: time)]) }
        let encoded = try stack.context.fetch(NSFetchRequest<Parcel>(entityName: "Parcel")).encoded(\.sent)
        #expect(try encoded.json(by: Self.encoders[1]) == Self.encoders[1].encode(encoded))
    }

    @Test("A list stands under its key, behind other values; values without names are refused")
    func beside() throws {
        let stack = try EncodedValueTests.stack(NSInMemoryStoreType)
        _ = stack.context.make("Parcel", ["note": "n"])
        let encoded = try stack.context.fetch(NSFetchRequest<Parcel>(entityName: "Parcel")).encoded(\.note)
        for encoder in [Self.encoders[0], Self.encoders[5]] {
            let data = try encoded.json(by: encoder, as: "items", beside: ["page": 2])
            let found = try #require(JSONSerialization.jsonObject(with: data) as? NSDictionary)
            #expect(found == ["page": 2, "items": [["note": "n"]]])
        }
        let bare = try encoded.json(by: Self.encoders[0], as: "items", beside: [String: Int]())
        #expect(String(decoding: bare, as: UTF8.self) == #"{"items":[{"note":"n"}]}"#)
        #expect(throws: EncodingError.self) { try encoded.json(by: Self.encoders[0], as: "items", beside: [1]) }
    }

    @Test("A number that is not finite is refused with its path, and written as the encoder's strategy has it")
    func notFinite() throws {
        let stack = try EncodedValueTests.stack(NSInMemoryStoreType)
        _ = stack.context.make("Parcel", ["real": Double.infinity])
        let encoded = try stack.context.fetch(NSFetchRequest<Parcel>(entityName: "Parcel")).encoded(\.real)
        let error = #expect(throws: EncodingError.self) { try encoded.json(by: JSONEncoder()) }
        guard case .invalidValue(_, let told)? = error else { return }
        #expect(told.codingPath.map(\.stringValue) == ["real"])
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        #expect(try encoded.json(by: encoder) == encoder.encode(encoded))
    }
}
