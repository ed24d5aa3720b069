// Lists of constants of every kind, long ones too, and conditions near the limits of SQLite's parser.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct LongListTests {
    private static func model() -> NSManagedObjectModel {
        var work = EntityDraft(name: "Work")
        work.attributes = [
            Clinic.attribute("id", .uuid), Clinic.attribute("real", .double), Clinic.attribute("short", .float),
            Clinic.attribute("fee", .decimal), Clinic.attribute("date", .date), Clinic.attribute("bytes", .binary),
            Clinic.attribute("text", .string), Clinic.attribute("number", .integer64),
        ]
        return NSManagedObjectModel(work)
    }

    private static func id(_ number: Int) -> UUID {
        UUID(
            uuid: (
                1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, UInt8(number >> 16 & 255), UInt8(number >> 8 & 255),
                UInt8(number & 255)
            ))
    }

    private static func values(_ number: Int) -> [String: Any] {
        [
            "id": id(number), "real": Double(number) / 3, "short": Float(number) / 4, "fee": Decimal(number) / 8,
            "date": Date(timeIntervalSinceReferenceDate: Double(number) / 7),
            "bytes": Data([0, UInt8(number & 255), 255]),
            "text": "a\0\(number)", "number": Int64(number),
        ]
    }

    /// Rows 0 to 9, and one of nothing.
    private func stack(_ type: String, _ options: [AnyHashable: Any]? = nil) throws -> Stack {
        let stack = try Stack(type, model: Self.model(), undo: false, options: options)
        for number in 0..<10 { _ = stack.context.make("Work", Self.values(number)) }
        _ = stack.context.make("Work")
        try stack.context.save()
        stack.context.reset()
        return stack
    }

    private func count(_ stack: Stack, _ format: String, _ list: [Any] = []) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Work")
        request.predicate = NSPredicate(format: format, argumentArray: [list])
        return try stack.context.count(for: request)
    }

    @Test("Texts of every character are found by a list of them", arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func characters(_ type: String) throws {
        let controls = (1..<0x20).map { String(UnicodeScalar($0)) }
        let texts =
            controls + [
                "", "\"", "\\", "a\"b\\c\u{1f}d", "\\u0041", "é", "🫀\u{2028}", "\u{7f}",
                String(repeating: "ab\"", count: 300),
            ]
        let stack = try Stack(type, model: Self.model(), undo: false)
        for text in texts { _ = stack.context.make("Work", ["text": text]) }
        try stack.context.save()
        stack.context.reset()
        for text in texts {
            #expect(try count(stack, "text IN %@", [text, "nobody", "no \"one\""]) == 1, "\(text.debugDescription)")
        }
        #expect(try count(stack, "text IN %@", texts) == texts.count)
        #expect(try count(stack, "text IN %@", texts.map { $0 + "x" }) == 0)
        #expect(try count(stack, "text IN %@", texts + ["\0"]) == texts.count)
    }

    @Test("A long list of any kind is one parameter, and finds what it finds in memory", arguments: [3, 70, 5_000])
    func kinds(_ length: Int) throws {
        let log = StatementLog()
        let stored = try stack(NSSQLiteStoreType, log.options)
        let memory = try stack(NSInMemoryStoreType)
        let others = try (0..<2).map { index in
            let stack = index == 0 ? stored : memory
            let child = stack.context.child()
            try #require(try stack.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Work")).first).setValue(
                nil, forKey: "text")
            return child
        }
        for key in Self.values(0).keys.sorted() where key != "number" {
            let list = (0..<length).map { Self.values($0 * 3)[key] ?? 0 }
            for format in ["\(key) IN %@", "NOT \(key) IN %@"] {
                let found = try count(stored, format, list)
                #expect(try count(memory, format, list) == found, "\(format)")
                #expect(found > 0 && found < 11)
            }
        }
        let mixed = (0..<length).map { place -> Any in
            if place.isMultiple(of: 2) { return Double(place) / 3 }
            return Int64(place)
        }
        #expect(try count(stored, "real IN %@", mixed) == count(memory, "real IN %@", mixed))
        #expect(log.take().allSatisfy { $0.utf8.count < 4_000 })
        withExtendedLifetime(others) {}
    }

    @Test("A list of more values than SQLite takes parameters")
    func longest() throws {
        let stack = try stack(NSSQLiteStoreType)
        #expect(try count(stack, "id IN %@", (0..<140_000).map(Self.id)) == 10)
        #expect(try count(stack, "text IN %@", (0..<140_000).map { $0 == 5 ? "a\0005" : "\($0)" }) == 0)
        #expect(try count(stack, "real IN %@", (0..<140_000).map { Double($0) / 3 }) == 10)
    }

    @Test(
        "What is written out deeper or longer than SQLite reads is refused in words, in every store",
        arguments: StoreMaker.types)
    func limits(_ type: String) throws {
        let stack = try stack(type)
        func answer(_ format: String) -> String {
            do { return "\(try count(stack, format))" } catch {
                let said = "\(error)"
                #expect(said.contains("134060") && !said.contains("134180"), "\(said)")
                return "refused"
            }
        }
        for key in ["real", "short", "number", "fee", "date", "text"] {
            let answers = (1...30).map {
                answer(
                    String(repeating: "max:(\(key), ", count: $0) + "1" + String(repeating: ")", count: $0) + " == 1")
            }
            #expect(answers.suffix(8).allSatisfy { $0 == "refused" }, "\(key): \(answers)")
        }
        for (name, rest) in [("max:", ", 1"), ("min:", ", 1")] {
            let answers = (1...30).map { depth in
                answer(
                    String(repeating: "\(name)(", count: depth) + "number" + String(repeating: "\(rest))", count: depth)
                        + " == 1")
            }
            #expect(
                answers.prefix(12).allSatisfy { $0 != "refused" } && answers.suffix(8).allSatisfy { $0 == "refused" },
                "\(answers)")
            let right = (1...30).map { depth in
                answer(
                    String(repeating: "\(name)(1, ", count: depth) + "number" + String(repeating: ")", count: depth)
                        + " == 1")
            }
            #expect(
                right.prefix(12).allSatisfy { $0 != "refused" } && right.suffix(8).allSatisfy { $0 == "refused" },
                "\(right)")
        }
        let casts = (1...30).map {
            answer(
                String(repeating: "CAST(", count: $0) + "number" + String(repeating: ", 'NSString')", count: $0)
                    + " == '1'")
        }
        #expect(casts.first != "refused" && casts.last == "refused", "\(casts)")
        #expect(answer("max:({number" + String(repeating: ", 1", count: 130) + "}) == 1") == "refused")
        let sorted = NSFetchRequest<NSManagedObject>(entityName: "Work")
        sorted.sortDescriptors = (0..<2_100).map { _ in NSSortDescriptor(key: "number", ascending: true) }
        let error = #expect(throws: CocoaError.self) { try stack.context.fetch(sorted) }
        #expect(error?.code.rawValue == 134060)
    }
}
