// Values given as Any, and values given back.

import CoreData
import CoreDataValues
import Foundation
import Testing

private typealias Kind = CoreDataValues.AttributeType

private func made(_ any: Any?, _ kind: Kind) throws -> Value {
    try value(any, as: kind, entity: "Book", property: "thing")
}

@Suite struct ModelValueTests {
    @Test("Numbers of every type become the attribute's kind")
    func numbers() throws {
        let sevens: [Any] = [
            7, Int8(7), Int16(7), Int32(7), Int64(7), UInt(7), UInt8(7), UInt64(7), Float(7), 7.0, CGFloat(7),
            Decimal(7), NSNumber(value: 7), NSNumber(value: 7.0), NSDecimalNumber(value: 7),
        ]
        for seven in sevens {
            let given = "\(type(of: seven))"
            for kind in [Kind.integer16, .integer32, .integer64] {
                #expect(try made(seven, kind) == .int(7), "\(given)")
            }
            #expect(try made(seven, .double) == .double(7), "\(given)")
            #expect(try made(seven, .float) == .double(7), "\(given)")
            #expect(try made(seven, .decimal) == .decimal(7), "\(given)")
        }
        #expect(try made(0.1, .decimal) == .decimal(Decimal(string: "0.1") ?? 0))
        #expect(try made(Int64.max, .integer64) == .int(.max))
        #expect(try made(Int64.min, .integer64) == .int(.min))
        #expect(try made(true, .integer16) == .int(1))
        #expect(try made(1, .boolean) == .bool(true))
        #expect(try made(NSNumber(value: false), .boolean) == .bool(false))
        #expect(try made(true, .boolean) == .bool(true))
    }

    @Test("Texts, dates, data, identifiers and URLs keep their value")
    func others() throws {
        let date = Date(timeIntervalSinceReferenceDate: 12.5)
        let uuid = UUID()
        let url = try #require(URL(string: "https://example.org/a?b"))
        #expect(try made("x", .string) == .text("x"))
        #expect(try made(NSString(string: "x"), .string) == .text("x"))
        #expect(try made(date, .date) == .date(12.5))
        #expect(try made(date as NSDate, .date) == .date(12.5))
        #expect(try made(Data([1]), .binary) == .data(Data([1])))
        #expect(try made(Data([1]) as NSData, .binary) == .data(Data([1])))
        #expect(try made(uuid, .uuid) == .uuid(uuid))
        #expect(try made(uuid as NSUUID, .uuid) == .uuid(uuid))
        #expect(try made(url, .uri) == .uri(url.absoluteString))
        #expect(try made(url as NSURL, .uri) == .uri(url.absoluteString))
        for kind in Kind.allCases { #expect(try made(nil, kind) == .null) }
    }

    @Test(
        "What does not fit is refused",
        arguments: [
            (Kind.integer16, "40000"), (.integer32, "3000000000"), (.integer16, "-32769"), (.boolean, "2"),
        ])
    fileprivate func range(kind: CoreDataValues.AttributeType, text: String) throws {
        let error = #expect(throws: ValueMismatch.self) { try made(Int(text), kind) }
        #expect(error?.sentence.contains("Book.thing") == true)
        #expect(error?.sentence.contains(text) == true)
    }

    @Test("Fractions, huge numbers and NaN are no integers")
    func fractions() {
        let refused: [Any] = [1.5, UInt64.max, Double.nan, Double.infinity, 1e300, Decimal(1.5), Decimal.nan]
        for any in refused {
            #expect(throws: ValueMismatch.self, "\(any)") { try made(any, .integer64) }
        }
        #expect(throws: ValueMismatch.self) { try made(NSNumber(value: UInt64.max), .integer64) }
        #expect(throws: ValueMismatch.self) { try made(NSNumber(value: 1.5), .integer64) }
    }

    @Test("Wrong types are refused with entity, property, expected and given type")
    func wrongTypes() {
        let refused: [(Kind, Any)] = [
            (.integer16, "7"), (.string, 7), (.date, 7.0), (.binary, "x"), (.uuid, UUID().uuidString),
            (.uri, "https://example.org"), (.boolean, "YES"), (.decimal, "1"), (.string, NSNull()),
            (.integer64, NSObject()), (.undefined, NSObject()), (.transformable, [1]), (.composite, ["a": 1]),
        ]
        for (kind, any) in refused {
            let error = #expect(throws: ValueMismatch.self, "\(kind)") { try made(any, kind) }
            #expect(error?.sentence.contains("Book.thing") == true)
            #expect(error?.sentence.contains(kind.modelName) == true)
        }
        let given = #expect(throws: ValueMismatch.self) { try made(7, .string) }
        #expect(given?.sentence.contains("Int was given") == true)
    }

    @Test("An attribute without a type keeps the value's own kind")
    func untyped() throws {
        #expect(try made(7, .undefined) == .int(7))
        #expect(try made(true, .undefined) == .bool(true))
        #expect(try made(1.5, .undefined) == .double(1.5))
        #expect(try made("x", .undefined) == .text("x"))
    }

    @Test("Numbers come back as objects that every number type can be cast from")
    func back() throws {
        let seven = Value.int(7).object
        #expect(seven as? Int == 7)
        #expect(seven as? Int16 == 7)
        #expect(seven as? Int64 == 7)
        #expect(seven as? NSNumber == 7)
        #expect(Value.bool(true).object as? Bool == true)
        #expect(Value.int(1).object as? Bool == true)
        #expect(Value.double(1.5).object as? Double == 1.5)
        #expect(Value.decimal(3).object is NSDecimalNumber)
        #expect((Value.decimal(3).object as? NSDecimalNumber)?.decimalValue == 3)
        #expect(Value.text("x").object as? String == "x")
        #expect(Value.date(1).object as? Date == Date(timeIntervalSinceReferenceDate: 1))
        #expect(Value.data(Data([1])).object as? Data == Data([1]))
        let uuid = UUID()
        #expect(Value.uuid(uuid).object as? UUID == uuid)
        #expect(Value.uri("https://example.org").object as? URL == URL(string: "https://example.org"))
        #expect(Value.null.object == nil)
    }
}
