// Rows of a guessed model, the same in every store.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreData

/// Fills a context; the same model gives the same rows.
struct GuessedRows {
    private let context: NSManagedObjectContext
    private var random = SplitMix(11)
    private var serial = 0
    private var number = 0

    static func fill(_ context: NSManagedObjectContext, _ root: GuessedEntity) {
        var rows = GuessedRows(context: context)
        _ = rows.make(root, "Root", 16)
    }

    private init(context: NSManagedObjectContext) { self.context = context }

    private mutating func make(_ entity: GuessedEntity, _ name: String, _ count: Int) -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        for _ in 0..<count {
            serial += 1
            let object = context.make(name, ["zSerial": serial])
            for key in entity.attributes.keys.sorted() { object.setValue(value(entity, key), forKey: key) }
            objects.append(object)
        }
        for (key, target, isMany) in entity.targets {
            number += 1
            let others = make(target, "Entity\(number)", 6)
            for object in objects {
                if isMany {
                    let members = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                        others.randomElement(using: &random)
                    }
                    object.setValue(NSSet(array: members.compactMap { $0 }), forKey: key)
                } else if Int.random(in: 0...3, using: &random) > 0 {
                    object.setValue(others.randomElement(using: &random), forKey: key)
                }
            }
        }
        return objects
    }

    /// One of those that the attribute is compared with, or one near it; nil one time in six.
    private mutating func value(_ entity: GuessedEntity, _ key: String) -> Any? {
        guard Int.random(in: 0...5, using: &random) > 0 else { return nil }
        let pool = entity.pools[key] ?? []
        let constant = Bool.random(using: &random) ? pool.randomElement(using: &random) : nil
        switch entity.kind(key) {
        case .number:
            guard case .int(let number)? = constant, number < .max - 2, number > .min + 2 else {
                return Int64.random(in: -1...4, using: &random)
            }
            return number + Int64.random(in: -1...1, using: &random)
        case .real:
            if case .int(let number)? = constant, abs(number) < 1_000_000 { return Double(number) }
            // Exact in every sum.
            guard case .double(let number)? = constant, number * 1024 == (number * 1024).rounded(),
                abs(number) < 1_000_000
            else {
                return Double(Int.random(in: -4...8, using: &random)) / 2
            }
            return number
        case .flag: return Bool.random(using: &random)
        case .date: return Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -1...3, using: &random)) * 30)
        case .text:
            guard case .text(let text)? = constant else {
                return ["", "a", "bc", "A", "Abc", "e\u{301}"].randomElement(using: &random)
            }
            let plain = text.replacing("*", with: "x").replacing("?", with: "y")
            return [text, plain, text.uppercased(), "x" + text, text + "z", String(text.dropLast())].randomElement(
                using: &random)
        }
    }
}
