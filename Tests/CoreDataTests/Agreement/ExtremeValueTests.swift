// Values at the edges of their types, through a context and back.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Extreme values") struct ExtremeValueTests {
    private static let entity = "Größe_名"

    private static let attributes: [(name: String, type: AttributeType)] = [
        ("größe", .integer16), ("naïve", .integer32), ("数", .integer64), ("Ünit", .double), ("ﬂoat", .float),
        ("名前", .string), ("дата", .date), ("βlob", .binary), ("έξω", .binary), ("geld", .decimal),
        ("ключ", .uuid),
        ("ort", .uri), ("wahr", .boolean),
    ]

    private static func model() -> NSManagedObjectModel {
        var entity = EntityDraft(name: ExtremeValueTests.entity)
        entity.attributes = attributes.map { name, type in
            Clinic.attribute(name, type, external: name == "έξω")
        }
        entity.relationships = [
            Clinic.toOne("élève", ExtremeValueTests.entity, inverse: "maître"),
            Clinic.toMany("maître", ExtremeValueTests.entity, inverse: "élève"),
        ]
        return NSManagedObjectModel(entity)
    }

    private static let megabyte = Data((0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    private static func values(_ name: String) -> [Any] {
        switch name {
        case "größe": [Int16.min, Int16.max, 0 as Int16]
        case "naïve": [Int32.min, Int32.max]
        case "数": [Int64.min, Int64.max, (1 << 53) + 1 as Int64]
        case "Ünit":
            [
                Double.infinity, -Double.infinity, -0.0, Double.greatestFiniteMagnitude,
                Double.leastNonzeroMagnitude, 0.1,
                3.0, 9_007_199_254_740_993.0, 1e18, -9.3e18,
            ]
        case "ﬂoat":
            [
                Float.infinity, -Float.infinity, Float.greatestFiniteMagnitude, Float.leastNonzeroMagnitude,
                0.1 as Float,
            ]
        case "名前":
            [
                "", "\0", "a\0b\0", "e\u{301}", "\u{e9}", "\u{10ffff}", "x'); DROP TABLE \"ZPERSON\"; --",
                "\u{feff}bom",
                "10", "1e3", " ", String(repeating: "\u{1f600}", count: 250_000),
            ]
        case "дата":
            [
                Date.distantPast, Date.distantFuture, Date(timeIntervalSinceReferenceDate: 0),
                Date(timeIntervalSinceReferenceDate: 700_000_000),
                Date(timeIntervalSinceReferenceDate: -0.125),
                Date(timeIntervalSinceReferenceDate: 1e17),
                Date(timeIntervalSinceReferenceDate: 738_000_000.123456),
                Date(timeIntervalSinceReferenceDate: .infinity),
            ]
        case "βlob", "έξω": [Data(), Data([0]), Data([0, 1, 0xff]), Data("text".utf8), megabyte]
        case "geld":
            ["0", "1", "-1", "0.1", "12345678.9012345", "-99999999999999", "1e-20", "3e40"].map {
                NSDecimalNumber(string: $0)
            }
        case "ключ":
            [
                UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
                UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)),
            ]
        case "ort":
            ["x:", "https://example.org/%00%F0%9F?q=1#f", "file:///a%20b"].compactMap { URL(string: $0) }
        default: [true, false]
        }
    }

    /// To the bit: text by scalars, reals by their bits. -0.0 may come back as 0.0, for SQLite keeps it as the integer 0.
    private func isSame(_ a: Any?, _ b: Any) -> Bool {
        switch b {
        case let text as String: (a as? String).map { Array($0.utf8) == Array(text.utf8) } ?? false
        case let real as Double: a as? Double == real
        case let real as Float: a as? Float == real
        case let date as Date: a as? Date == date
        case let data as Data: a as? Data == data
        case let url as URL: (a as? URL)?.absoluteString == url.absoluteString
        case let uuid as UUID: a as? UUID == uuid
        case let flag as Bool: a as? Bool == flag
        case let number as Int16: a as? Int16 == number
        case let number as Int32: a as? Int32 == number
        case let number as Int64: a as? Int64 == number
        case let number as NSDecimalNumber: (a as? NSDecimalNumber)?.decimalValue == number.decimalValue
        default: false
        }
    }

    @Test(
        "Extreme values of every type, under Unicode names, come back as they were saved, also from a changed row",
        arguments: FetchOptionTests.types)
    func roundTrip(_ type: String) throws {
        let stack = try Stack(type, model: ExtremeValueTests.model(), undo: false)
        var rows: [(object: NSManagedObject, name: String, value: Any)] = []
        for (name, _) in ExtremeValueTests.attributes {
            for value in ExtremeValueTests.values(name) {
                rows.append((stack.context.make(ExtremeValueTests.entity, [name: value]), name, value))
            }
        }
        for (row, next) in zip(rows, rows.dropFirst()) { row.object.setValue(next.object, forKey: "élève") }
        try stack.context.save()
        for pass in 1...2 {
            let reader = stack.another()
            for (object, name, value) in rows {
                let found = try reader.existingObject(with: object.objectID)
                let read = found.value(forKey: name)
                #expect(
                    isSame(read, value), "pass \(pass): \(name) = \(String(describing: value).prefix(60))")
                for (other, _) in ExtremeValueTests.attributes where other != name && pass == 1 {
                    #expect(found.value(forKey: other) == nil, "\(other) beside \(name)")
                }
            }
            // The second pass reads rows that an update wrote.
            let shifted = rows.indices.map {
                (rows[$0].object, rows[$0].name, ExtremeValueTests.values(rows[$0].name)[0])
            }
            guard pass == 1 else { break }
            for (object, name, value) in shifted { object.setValue(value, forKey: name) }
            rows = shifted.map { (object: $0.0, name: $0.1, value: $0.2) }
            try stack.context.save()
        }
        #expect(rows.count > 55)
    }

    @Test(
        "NaN is refused at the save, with the names of entity and property, and nothing is written",
        arguments: FetchOptionTests.types)
    func nan(_ type: String) throws {
        let values: [(String, Any)] = [
            ("Ünit", Double.nan), ("ﬂoat", Float.nan), ("дата", Date(timeIntervalSinceReferenceDate: .nan)),
            ("geld", NSDecimalNumber.notANumber),
        ]
        let stack = try Stack(type, model: ExtremeValueTests.model(), undo: false)
        let saved = stack.context.make(ExtremeValueTests.entity)
        try stack.context.save()
        for (name, value) in values {
            for isNew in [true, false] {
                let object = isNew ? stack.context.make(ExtremeValueTests.entity) : saved
                object.setValue(value, forKey: name)
                let error = #expect(throws: CocoaError.self, "\(name)") { try stack.context.save() }
                let sentence = error.sentence
                #expect(
                    sentence.contains(name) && sentence.contains(ExtremeValueTests.entity),
                    "\(name): \(sentence)")
                stack.context.rollback()
            }
        }
        let found = try stack.another().all(ExtremeValueTests.entity)
        #expect(found.count == 1)
        for (name, _) in values { #expect(found.first?.value(forKey: name) == nil) }
    }
}
