// One row whose values are known, unsaved, saved, and changed after that.

import CoreDataAgreement
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

/// A work in a store of its own: i16 is 7, i32 -3, i64 the largest number, b true, d 2.5, f and dec 0.1, date the 60th second, s "abc", t empty,
/// no author, no chapters, and three tags of ranks 1, nil and 3, the first named "red".
struct OneWork {
    let contexts: [(state: String, context: NSManagedObjectContext)]
    private let rigs: [Rig]
    private let type: String

    init(_ type: String) throws {
        self.type = type
        var made: [(String, NSManagedObjectContext)] = []
        rigs = try ["unsaved", "saved"].map { state in
            let rig = Rig(Library.model())
            try rig.add(type)
            let context = rig.context()
            Self.fill(context)
            guard state == "saved" else {
                made.append((state, context))
                return rig
            }
            try context.save()
            made.append((state, rig.context()))
            let changed = rig.context()
            try changed.fetch(NSFetchRequest<NSManagedObject>(entityName: "Work")).first?.setValue(9, forKey: "touch")
            made.append(("changed", changed))
            return rig
        }
        contexts = made
    }

    static func subject() -> [String: Any] {
        [
            "i16": 7, "i32": -3, "i64": Int64.max, "b": true, "d": 2.5, "f": Float(0.1),
            "dec": Decimal(string: "0.1") as Any,
            "date": Date(timeIntervalSinceReferenceDate: 60), "s": "abc", "t": "", "uuid": Library.uuid(2),
            "chapters": [Any](),
            "tags": [["rank": 1, "name": "red"], [:], ["rank": 3]],
        ]
    }

    private static func fill(_ context: NSManagedObjectContext) {
        let work = context.make("Work")
        for (key, value) in subject() where key != "tags" && key != "chapters" {
            work.setValue(key == "dec" ? NSDecimalNumber(string: "0.1") : value, forKey: key)
        }
        for rank in [1, nil, 3] {
            let tag = context.make("Tag")
            tag.setValue(rank, forKey: "rank")
            if rank == 1 { tag.setValue("red", forKey: "name") }
            work.mutableSetValue(forKey: "tags").add(tag)
        }
    }

    /// Expects a condition to be what it is to be for every state, fetched and asked of the object.
    func expect(
        _ text: String, _ arguments: Any..., is wanted: Bool = true,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        for (state, context) in contexts {
            do {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Work")
                let object = try #require(try context.fetch(request).first)
                let predicate = try NSPredicate(validating: text, argumentArray: arguments)
                request.predicate = predicate
                let found = try context.fetch(request)
                #expect((found.count == 1) == wanted, "\(text), \(type), \(state)", sourceLocation: sourceLocation)
                #expect(
                    predicate.evaluate(with: object) == wanted, "\(text), object of \(type), \(state)",
                    sourceLocation: sourceLocation)
            } catch { Issue.record("\(text): \(error.localizedDescription)", sourceLocation: sourceLocation) }
        }
    }

    /// Expects a fetch to be refused in the same words for every state.
    func expectRefused(_ text: String, _ words: String, sourceLocation: Testing.SourceLocation = #_sourceLocation) {
        for (state, context) in contexts {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Work")
            request.predicate = try? NSPredicate(parsing: text)
            let error = #expect(throws: CocoaError.self, "\(text), \(state)", sourceLocation: sourceLocation) {
                _ = try context.fetch(request)
            }
            #expect(
                error?.localizedDescription.contains(words) == true, "\(text): \(error?.localizedDescription ?? "")",
                sourceLocation: sourceLocation)
        }
    }
}
