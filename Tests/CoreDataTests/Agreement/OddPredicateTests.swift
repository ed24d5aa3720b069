// Predicates that a program may well build and nobody would write down.

import CoreData
import CoreDataTestSupport
import Foundation
import Testing

@Suite("Odd predicates") struct OddPredicateTests {
    static let types = [NSInMemoryStoreType, NSSQLiteStoreType]

    private func stack(_ type: String) throws -> Stack {
        let stack = try Stack(type, undo: false)
        for code in 0..<5 { _ = stack.context.make("Patient", ["name": "p\(code)", "code": code]) }
        try stack.context.save()
        return stack
    }

    private func codes(_ predicate: NSPredicate, _ stack: Stack) throws -> [Int] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.predicate = predicate
        return try stack.context.fetch(request).compactMap { $0.value(forKey: "code") as? Int }.sorted()
    }

    @Test("Five thousand conditions side by side or one inside the other find what they say", arguments: types)
    func manyConditions(_ type: String) throws {
        let stack = try stack(type)
        let wanted = (0..<5000).map { NSPredicate(format: "code == %d", $0 * 2 + 1) }
        #expect(try codes(NSCompoundPredicate(orPredicateWithSubpredicates: wanted), stack) == [1, 3])
        let unwanted = wanted.map { NSCompoundPredicate(notPredicateWithSubpredicate: $0) }
        #expect(try codes(NSCompoundPredicate(andPredicateWithSubpredicates: unwanted), stack) == [0, 2, 4])
        var nested = wanted[0]
        for next in wanted.dropFirst().prefix(1500) {
            nested = NSCompoundPredicate(orPredicateWithSubpredicates: [nested, next])
        }
        #expect(try codes(nested, stack) == [1, 3])
    }

    @Test("Sixteen thousand conditions as a text or as a list are one list for the store", arguments: types)
    func longChains(_ type: String) throws {
        let stack = try stack(type)
        let texts = (0..<16_000).map { $0 % 3 == 0 ? "name == 'p\($0 * 2 + 1)'" : "code == \($0 * 2 + 1)" }
        #expect(try codes(NSPredicate(format: texts.joined(separator: " OR ")), stack) == [1, 3])
        let parts = texts.map { NSPredicate(format: $0) }
        #expect(try codes(NSCompoundPredicate(orPredicateWithSubpredicates: parts), stack) == [1, 3])
        let without = NSPredicate(format: texts.map { $0.replacing("==", with: "!=") }.joined(separator: " AND "))
        #expect(try codes(without, stack) == [0, 2, 4])
    }

    @Test("Ranges of one property in a chain come to the widest or the narrowest of them", arguments: types)
    func ranges(_ type: String) throws {
        let stack = try stack(type)
        // Fewer conditions share their statement with others and stay as they are.
        for (format, filler, wanted) in [
            ("code > 3 OR code > 1 OR code > 2", " OR code > 5", [2, 3, 4]),
            ("code > 0 AND code > 2 AND code > 1", " AND code > -5", [3, 4]),
            ("code < 1 OR code < 3 OR code < 2", " OR code < -5", [0, 1, 2]),
            ("code < 4 AND code < 2 AND code < 3", " AND code < 50", [0, 1]),
            ("code > 2 OR code >= 2 OR code > 3", " OR code >= 30", [2, 3, 4]),
            ("code < 2 AND code <= 2", " AND code <= 90", [0, 1]),
            ("code > 0 AND code < 4 AND code >= 2 AND code <= 3", " AND code > -7", [2, 3]),
            ("code < 1 OR code > 3 OR code <= 0 OR code >= 4", " OR code > 70", [0, 4]),
        ] {
            let chain = format + String(repeating: filler, count: 20)
            #expect(try codes(NSPredicate(format: chain), stack) == wanted, "\(format)")
        }
    }

    @Test(
        "More conditions than SQLite plans are refused in words, whichever store is asked and whatever is unsaved",
        arguments: types)
    func tooMany(_ type: String) throws {
        let stack = try stack(type)
        let starts = NSCompoundPredicate(
            orPredicateWithSubpredicates: (0..<4001).map { NSPredicate(format: "name BEGINSWITH %@", "p\($0)") })
        for isDirty in [false, true] {
            if isDirty { _ = stack.context.make("Ward", ["name": "new"]) }
            let error = #expect(throws: CocoaError.self) { _ = try codes(starts, stack) }
            #expect(error?.code.rawValue == 134060)
            #expect(
                error?.localizedDescription.contains("4001 comparisons and quantifiers") == true,
                "\(error?.localizedDescription ?? "")")
        }
    }

    @Test("What needs a collection is answered alike whatever is unsaved", arguments: types)
    func collections(_ type: String) throws {
        let stack = try stack(type)
        let patient = try stack.context.all("Patient").sorted {
            ($0.value(forKey: "code") as? Int ?? 0) < ($1.value(forKey: "code") as? Int ?? 0)
        }[3]
        let ward = stack.context.make("Ward", ["name": "East", "beds": 4])
        patient.setValue(ward, forKey: "ward")
        try stack.context.save()
        for isDirty in [false, true] {
            if isDirty { _ = stack.context.make("Doctor", ["name": "new"]) }
            for (format, wanted) in [
                ("ward.patients.@count == 1", [3]), ("SUBQUERY(ward.patients, $x, $x.code == 3).@count == 1", [3]),
                ("ward.patients.@max.code > 2", [3]), ("ward.patients.@sum.code == 3", [3]),
                ("ANY ward.patients.code == 3", [3]),
                ("3 == code", [3]), ("ANY 3 == ward.patients.code", [3]), ("'East' == ward.name", [3]),
                ("name.length == 2", [0, 1, 2, 3, 4]),
                ("uppercase:(name) == 'P2'", [2]), ("code + 1 == 3", [2]), ("'1' IN name", [1]),
                ("code == code", [0, 1, 2, 3, 4]),
            ] {
                #expect(try codes(NSPredicate(format: format), stack) == wanted, "\(format), unsaved: \(isDirty)")
            }
        }
    }

    @Test("What means nothing is refused in the same words by every store, whatever is unsaved")
    func sameWords() throws {
        let formats = [
            "nosuch == 1", "ward.nosuch == 1", "ANY ward.patients.nosuch == 1", "ward.patients.@count.code == 1",
            "code BETWEEN {3}",
            "code IN 3", "code MATCHES '5'", "ANY code == 1", "ward.patients == 1", "name CONTAINS 5",
            "name MATCHES '('",
            "code == $x", "ward < ward", "name == code", "SUBQUERY(code, $x, $x == 1).@count == 1",
            "ward.patients.@nosuch.code == 1",
        ]
        var words: [String: Set<String>] = [:]
        for type in Self.types + [NSBinaryStoreType] {
            for isDirty in [false, true] {
                let stack = try Stack(type, undo: false)
                if isDirty { _ = stack.context.make("Doctor", ["name": "new"]) }
                for format in formats {
                    let error = #expect(throws: CocoaError.self, "\(format) on \(type)") {
                        _ = try codes(NSPredicate(format: format), stack)
                    }
                    #expect(error?.code.rawValue == 134060, "\(format)")
                    words[format, default: []].insert(error?.localizedDescription ?? "")
                }
            }
        }
        for (format, sentences) in words { #expect(sentences.count == 1, "\(format): \(sentences)") }
    }

    @Test("A value of another kind equals nothing, and differs from everything", arguments: types)
    func otherKind(_ type: String) throws {
        let stack = try stack(type)
        #expect(try codes(NSPredicate(format: "code == 'p1'"), stack) == [])
        #expect(try codes(NSPredicate(format: "code != 'p1'"), stack) == [0, 1, 2, 3, 4])
        #expect(try codes(NSPredicate(format: "name == 1"), stack) == [])
        #expect(try codes(NSPredicate(format: "name < 1"), stack) == [])
        #expect(try codes(NSPredicate(format: "code IN {'p1', 2}"), stack) == [2])
    }

    @Test("What cannot be answered is refused, naming it", arguments: types)
    func refused(_ type: String) throws {
        let stack = try stack(type)
        for (format, word) in [("code == $number", "$number"), ("doctors == nil", "doctors")] {
            let error = #expect(throws: CocoaError.self) { _ = try codes(NSPredicate(format: format), stack) }
            #expect(error?.code.rawValue == 134060)
            #expect(error?.localizedDescription.contains(word) == true, "\(error?.localizedDescription ?? "")")
        }
    }
}
