// Attributes of every type as JSON, and what is no value of JSON.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

final class Parcel: NSManagedObject {
    struct Label: Codable, Hashable { var text: String; var size: Int }

    var small: Int16 { value(forKey: "small") as? Int16 ?? 0 }
    var large: Int64 { value(forKey: "large") as? Int64 ?? 0 }
    var real: Double { value(forKey: "real") as? Double ?? 0 }
    var short: Float { value(forKey: "short") as? Float ?? 0 }
    var price: Decimal? {
        value(forKey: "price") as? Decimal ?? (value(forKey: "price") as? NSDecimalNumber)?.decimalValue
    }
    var isOpen: Bool { value(forKey: "isOpen") as? Bool ?? false }
    var note: String? { value(forKey: "note") as? String }
    var sent: Date? { value(forKey: "sent") as? Date }
    var bytes: Data? { value(forKey: "bytes") as? Data }
    var photo: Data? { value(forKey: "photo") as? Data }
    var code: UUID? { value(forKey: "code") as? UUID }
    var page: URL? { value(forKey: "page") as? URL }
    var words: [String]? { value(forKey: "words") as? [String] }
    var label: Label? { (value(forKey: "label") as? Data).flatMap { try? JSONDecoder().decode(Label.self, from: $0) } }
    var list: [Int]? { value(forKey: "list") as? [Int] }
    var table: [String: Int]? { value(forKey: "table") as? [String: Int] }
    var data: Data? { value(forKey: "data") as? Data }
    var latitude: Double { value(forKey: "place.latitude") as? Double ?? 0 }

    override class var additionalKeys: [String: AnyKeyPath] { ["label": \Parcel.label, "shout": \Parcel.shout] }
    var shout: String? { note?.uppercased() }
}

@Suite("Encoded values") struct EncodedValueTests {
    private static let registered: Void = ValueTransformer.setValueTransformer(
        CodableTransformer<[String]>(), forName: NSValueTransformerName("EncodedWords"))

    static func stack(_ type: String) throws -> Stack {
        _ = Self.registered
        var parcel = EntityDraft(name: "Parcel")
        parcel.className = "Parcel"
        parcel.attributes = [
            Clinic.attribute("small", .integer16), Clinic.attribute("large", .integer64),
            Clinic.attribute("real", .double),
            Clinic.attribute("short", .float), Clinic.attribute("price", .decimal),
            Clinic.attribute("isOpen", .boolean),
            Clinic.attribute("note", .string), Clinic.attribute("sent", .date), Clinic.attribute("bytes", .binary),
            Clinic.attribute("photo", .binary, external: true),
            Clinic.attribute("code", .uuid), Clinic.attribute("page", .uri),
            Clinic.transformable("words", "EncodedWords"),
            Clinic.transformable("list"), Clinic.composite("place", "Place"),
            Clinic.transformable("table"), Clinic.transformable("data"),
        ]
        var draft = SchemaDraft(parcel)
        draft.composites = [
            Composite(
                name: "Place", attributes: [Clinic.attribute("latitude", .double), Clinic.attribute("name", .string)])
        ]
        return try Stack(type, model: NSManagedObjectModel(draft: draft), undo: false)
    }

    private struct Form: Encodable {
        var small: Int16, large: Int64, real: Double, short: Float, price: Decimal, isOpen: Bool, note: String,
            sent: Date, bytes: Data
        var photo: Data, code: UUID, page: URL, words: [String]
    }

    @Test(
        "Every type is encoded as Swift encodes it, by the encoder's strategies; composites are containers",
        arguments: Harbour.types)
    func types(_ type: String) throws {
        let stack = try Self.stack(type)
        let form = Form(
            small: -3, large: .max, real: 0.1, short: 0.1, price: Decimal(string: "12.34") ?? 0, isOpen: true,
            note: "é\u{0}\"\\\n/",
            sent: Date(
                timeIntervalSinceReferenceDate: 60.5), bytes: Data([1, 2, 250]),
            photo: Data(repeating: 7, count: 200_000), code: UUID(),
            page: URL(string: "https://example.org/a?b=c") ?? URL(fileURLWithPath: "/"), words: ["x", "y"])
        let values: [String: Any] = [
            "small": form.small, "large": form.large, "real": form.real, "short": form.short,
            "price": NSDecimalNumber(decimal: form.price),
            "isOpen": true, "note": form.note, "sent": form.sent, "bytes": form.bytes, "photo": form.photo,
            "code": form.code, "page": form.page,
            "words": form.words, "place": ["latitude": 59.9, "name": "Oslo"],
        ]
        _ = stack.context.make("Parcel", values)
        var texts: [String] = []
        for isSaved in [false, true] {
            if isSaved {
                try stack.context.save()
                stack.context.reset()
            }
            let found = try stack.context.fetch(NSFetchRequest<Parcel>(entityName: "Parcel"))
            let encoded = try found.encoded(
                \.small, \.large, \.real, \.short, \.price, \.isOpen, \.note, \.sent, \.bytes, \.photo, \.code, \.page,
                \.words)
            for dates in [JSONEncoder.DateEncodingStrategy.deferredToDate, .iso8601, .secondsSince1970] {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                encoder.dateEncodingStrategy = dates
                #expect(try encoder.encode(encoded[0]) == encoder.encode(form), "\(isSaved)")
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            texts.append(
                String(decoding: try encoder.encode(found.encoded(\.latitude, \.shout, \.small)), as: UTF8.self))
        }
        let wanted = #"[{"place":{"latitude":59.9},"shout":"É\#u{5C}u0000\"\\\n\/","small":-3}]"#
        #expect(texts == [wanted, wanted])
    }

    @Test(
        "A transformable value that is no Swift value is refused by name; lists and dictionaries of Foundation's are values"
    )
    func transformables() throws {
        let stack = try Self.stack(NSSQLiteStoreType)
        let values: [String: Any] = [
            "list": NSArray(array: [1, 2]), "table": NSDictionary(dictionary: ["k": 1]), "data": NSSet(array: [1]),
            "note": "n",
        ]
        let parcel = try #require(stack.context.make("Parcel", values) as? Parcel)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(parcel.encoded(\.list, \.table, \.shout)), as: UTF8.self)
        #expect(text == #"{"list":[1,2],"shout":"N","table":{"k":1}}"#)
        let error = #expect(throws: EncodingError.self) { try parcel.encoded(\.data) }
        guard case .invalidValue(_, let told)? = error else { return }
        #expect(
            told.codingPath.map(\.stringValue) == ["data"]
                && told.debugDescription.contains("Parcel.data is of type NSSet"), "\(told)")
    }
}
