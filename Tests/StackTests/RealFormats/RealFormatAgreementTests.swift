// The predicates of real programs, asked of rows: SQLite, the store in memory and the objects answer alike.

import CoreDataFoundation
import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Predicates of real programs") struct RealFormatAgreementTests {
    private struct Case {
        let text: String
        let tree: CoreDataValues.Predicate
    }

    /// The literal texts of a table beside the project; nil when it is not there.
    private static func texts() -> [String]? {
        Corpus.rows("predicates/formats.tsv")?.compactMap(\.first).filter { !$0.contains("\\(") }
    }

    private static func read(_ text: String) -> CoreDataValues.Predicate? {
        try? FormatParser.predicate(text) { place, letter in
            letter == "K" ? .keyPath("key") : .expression(.variable("a\(place)\(letter)"))
        }
    }

    @Test("SQLite, the store in memory and the objects answer the predicates of real programs alike", arguments: 0..<4)
    func agree(part: Int) throws {
        guard let texts = Self.texts() else { return }
        var models: [String: (root: GuessedEntity, cases: [Case])] = [:]
        var skipped: [String: Int] = [:]
        var count = 0
        for (place, text) in texts.enumerated() where place % 4 == part {
            guard let tree = Self.read(text) else { continue }
            count += 1
            var guess = ModelGuess()
            do { try guess.note(tree) } catch let error as Unguessable {
                skipped[error.why, default: 0] += 1
                continue
            }
            let filled = tree.filled {
                $0.hasPrefix("a") && $0.dropFirst().first?.isNumber == true ? guess.value($0) : nil
            }
            let known = models[guess.root.signature]
            known?.root.addPools(of: guess.root)
            models[guess.root.signature] = (
                known?.root ?? guess.root, (known?.cases ?? []) + [Case(text: text, tree: filled)]
            )
        }
        var tally = Tally()
        for (_, (root, cases)) in models.sorted(by: { $0.key < $1.key }) { try ask(cases, root, &tally) }
        print(
            "formats.tsv, part \(part): \(count) predicates, \(models.count) models, \(tally), skipped \(skipped.sorted { $0.value > $1.value })"
        )
        #expect(tally.asked * 10 >= count * 6)
    }

    private struct Tally: CustomStringConvertible {
        var asked = 0
        var refused: [String: Int] = [:]
        /// Which select some rows, not all.
        var telling = 0
        var description: String {
            "\(asked) answered, of which \(telling) select some rows and not all, refused \(refused)"
        }
    }

    private func ask(_ cases: [Case], _ root: GuessedEntity, _ tally: inout Tally) throws {
        let model = NSManagedObjectModel(draft: root.draft())
        var contexts: [NSManagedObjectContext] = []
        for type in [NSSQLiteStoreType, NSInMemoryStoreType] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let url = type == NSSQLiteStoreType ? URL(fileURLWithPath: "/dev/null") : nil
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
            let context = coordinator.context()
            GuessedRows.fill(context, root)
            try context.save()
            context.reset()
            contexts.append(context)
        }
        let objects = try contexts[0].fetch(NSFetchRequest<NSManagedObject>(entityName: "Root"))
        for one in cases {
            let predicate = NSPredicate.made(of: one.tree) { _ in nil }
            let answers = contexts.map { Self.answer($0, predicate) }
            #expect(answers[0] == answers[1], "\(one.text), as \(predicate)")
            if answers[0].hasPrefix("refused") {
                tally.refused[answers[0].replacing(/“.*?”|[“”]/, with: "…"), default: 0] += 1
                continue
            }
            tally.asked += 1
            let judged = objects.filter { predicate.evaluate(with: $0) }.compactMap {
                $0.value(forKey: "zSerial") as? Int
            }.sorted()
            #expect("\(judged)" == answers[0], "\(one.text), as \(predicate), objects")
            if !judged.isEmpty, judged.count < objects.count { tally.telling += 1 }
        }
    }

    private static func answer(_ context: NSManagedObjectContext, _ predicate: NSPredicate) -> String {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Root")
        request.predicate = predicate
        do {
            return "\(try context.fetch(request).compactMap { $0.value(forKey: "zSerial") as? Int }.sorted())"
        } catch { return "refused: \(error.localizedDescription)" }
    }
}
