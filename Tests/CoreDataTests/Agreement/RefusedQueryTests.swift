// What no store answers: refused while the query is bound, so that neither the store nor what is unsaved can change the words.

import CoreData
import CoreDataTestSupport
import Foundation
import Testing

@Suite("Refused queries") struct RefusedQueryTests {
    static let unknownKeys = [
        "nosuch == 1", "ward.nosuch == 1", "nosuch.name == 1", "ANY ward.patients.nosuch == 1",
        "ward.patients.@count.code == 1",
        "visits[FIRST].nosuch == nil", "visits[0].nosuch == 1", "name.nosuch == 1", "code.length == 1",
        "doctors.@max.nosuch > 1",
        "SUBQUERY(doctors, $d, $d.nosuch == 1).@count > 0", "SUBQUERY(nosuch, $d, $d.code == 1).@count > 0",
        "ward.patients.@nosuch.code == 1", "bed.patient.nosuch == nil", "1 == nosuch", "nosuch IN {1, 2}",
        "NOT nosuch == 1",
    ]
    static let nonsense = [
        "code BETWEEN {3}", "code BETWEEN 5", "code BETWEEN {1, 2, 3}", "ward BETWEEN {1, 2}", "code IN 3",
        "code MATCHES '5'",
        "ANY code == 1", "ALL code == 1", "NONE code > 1", "ward.patients == 1", "doctors == nil", "name CONTAINS 5",
        "name LIKE 5",
        "name BEGINSWITH 5", "name MATCHES '('", "code == $x", "ward < ward", "name == code", "tag == name",
        "SUBQUERY(code, $x, $x == 1).@count == 1", "SUBQUERY(doctors, $d, $e.code == 1).@count > 0",
        "doctors[0].code == 1",
        "visits[-1].code == 1", "doctors.@sum.name == 1", "doctors.@avg.name > 1", "uppercase:(doctors) == 'A'",
        "ward.@count == 1",
        "TERNARY(code > 1, name, code) == 'a'", "ANYKEY == 'a'", "FUNCTION(name, 'nosuch:') == 1",
    ]
    static let sorts = ["nosuch", "ward.nosuch", "doctors", "doctors.name", "ward.patients.code", "name.nosuch"]

    private func sentence(
        _ context: NSManagedObjectContext, _ predicate: NSPredicate?, by key: String? = nil
    ) -> String {
        let (request, ids) = (
            NSFetchRequest<NSManagedObject>(entityName: "Patient"),
            NSFetchRequest<NSManagedObjectID>(entityName: "Patient")
        )
        (request.predicate, ids.predicate) = (predicate, predicate)
        if let key {
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
            ids.sortDescriptors = request.sortDescriptors
        }
        ids.resultType = .managedObjectIDResultType
        var asks: [() throws -> Void] = [{ _ = try context.fetch(request) }, { _ = try context.fetch(ids) }]
        // A count has no order.
        if key == nil { asks.append { _ = try context.count(for: request) } }
        let words = asks.map { ask in
            do {
                try ask()
                return "answered"
            } catch {
                return (error as? CocoaError).map { "\($0.code.rawValue): \($0.localizedDescription)" } ?? "\(error)"
            }
        }
        return Set(words).sorted().joined(separator: " | ")
    }

    @Test(
        "Fifty queries that mean nothing are refused in the same words by every store, whatever is unsaved, above and below"
    )
    func sameWords() throws {
        var words: [String: [String: [String]]] = [:]
        for type in StoreMaker.types {
            for state in ["clean", "unrelated", "related", "child"] {
                let stack = try Stack(type, undo: false)
                _ = stack.context.make("Patient", ["name": "p", "code": 1])
                try stack.context.save()
                var context = stack.context
                if state == "unrelated" { _ = context.make("Badge", ["code": "new"]) }
                if state == "related" { _ = context.make("Patient", ["name": "new", "code": 3]) }
                if state == "child" {
                    context = stack.context.child()
                }
                for format in Self.unknownKeys + Self.nonsense {
                    let found = sentence(context, NSPredicate(format: format))
                    words[format, default: [:]][found, default: []].append("\(type) \(state)")
                }
                for key in Self.sorts {
                    let found = sentence(context, nil, by: key)
                    words["by " + key, default: [:]][found, default: []].append("\(type) \(state)")
                }
            }
        }
        #expect(words.count >= 50)
        for (query, sentences) in words {
            #expect(sentences.count == 1, "\(query): \(sentences)")
            #expect(sentences.keys.allSatisfy { $0.hasPrefix("134060: ") }, "\(query): \(sentences.keys)")
        }
        for query in Self.unknownKeys where query.contains("nosuch") {
            #expect(words[query]?.keys.first?.contains("nosuch") == true, "\(query): \(words[query] ?? [:])")
        }
    }
}
