// Every way of fetching answers alike: all stores, saved or pending, and the evaluator over all objects.

import CoreDataFoundation
import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Agreement of fetches") struct AgreementTests {
    /// One stack in the state that the queries are asked of.
    private struct Side {
        let name: String
        let stack: Stack
        var keeper: ShopKeeper

        init(_ type: String, seed: UInt64) throws {
            name = type
            stack = try Stack(type, model: Shop.model(), undo: false)
            keeper = ShopKeeper(stack.context, seed: seed)
            for entity in ["Person", "Label", "Item"] { keeper.insert(entity, 24) }
            try stack.context.save()
            keeper.disturb()
        }

        func ask(_ query: RandomQuery, _ context: NSManagedObjectContext, _ objects: [Int: NSManagedObject])
            throws -> [Int]
        {
            let request = try query.request(objects)
            let found = try context.fetch(request)
            #expect(try context.count(for: request) == found.count, "\(name) counts otherwise: \(query)")
            return found.map(ShopKeeper.serial)
        }
    }

    /// The definition: judge every object, order, cut.
    private func expected(_ query: RandomQuery, _ keeper: ShopKeeper) throws -> [Int] {
        let evaluator = try Evaluator(
            try query.predicate(keeper.bySerial).tree { ($0 as? NSManagedObject).map { .key($0._state.key) } }
        )
        let terms = try query.descriptors.map { try $0.term() }
        let keys = try terms.map { try ExpressionEvaluator(.keyPath($0.keyPath)) }
        let isAscending = query.sort.last?.isAscending ?? true
        let all = (keeper.objects["Item"] ?? []).filter { object in
            let name = object.entity.name
            return name == query.entity || (query.entity == "Item" && query.includesSubentities)
        }
        let sorted = all.filter { evaluator.matches(ObjectSource($0), variables: [:]) }.sorted { a, b in
            for (key, term) in zip(keys, terms) {
                let (x, y) = (
                    key.value(.source(ObjectSource(a))).comparable, key.value(.source(ObjectSource(b))).comparable
                )
                let result = ValueOrder.sortOrder(x, y, by: term.comparison)
                if result != .orderedSame { return (result == .orderedAscending) == term.isAscending }
            }
            return (ShopKeeper.serial(a) < ShopKeeper.serial(b)) == isAscending
        }
        return sorted.dropFirst(query.offset).prefix(query.limit > 0 ? query.limit : .max).map(
            ShopKeeper.serial)
    }

    struct Run: CustomTestStringConvertible, Sendable {
        let type: String
        let seed: UInt64
        var testDescription: String { "\(type) \(seed)" }
    }

    static let runs = StoreMaker.types.map { Run(type: $0, seed: 11) }

    @Test("Random predicates and orders: every store, pending changes and the evaluator answer alike", arguments: runs)
    func agree(_ run: Run) throws {
        let seed = run.seed
        let side = try Side(run.type, seed: seed)
        var random = SplitMix(seed &* 977)
        let objects = side.keeper.objects.mapValues { $0.map(ShopKeeper.serial) }
        var asked: [(query: RandomQuery, answer: [Int])] = []
        var (found, wrong) = (0, 0)

        func check(_ state: String, _ query: RandomQuery, _ answer: [Int], _ result: () throws -> [Int]) {
            do {
                var found = try result()
                if query.sort.isEmpty { found.sort() }
                if found == answer { return }
                Issue.record("seed \(seed), \(side.name), \(state): \(found) instead of \(answer): \(query)")
            } catch { Issue.record("seed \(seed), \(side.name), \(state): \(error): \(query)") }
            wrong += 1
        }

        for _ in 0..<300 where wrong < 10 {
            let query = RandomQuery(
                &random, people: objects["Person"] ?? [], items: objects["Item"] ?? [],
                labels: objects["Label"] ?? [])
            var answer = try expected(query, side.keeper)
            if query.sort.isEmpty { answer.sort() }
            found += answer.count
            asked.append((query, answer))
            check("pending", query, answer) { try side.ask(query, side.stack.context, side.keeper.bySerial) }
        }
        try side.stack.context.save()
        let reader = side.stack.another()
        for (query, answer) in asked where wrong < 10 {
            check("saved", query, answer) { try side.ask(query, reader, side.keeper.bySerial) }
        }
        print("\(run.type), seed \(seed): \(asked.count) queries, \(found) objects found, \(wrong) wrong")
        #expect(asked.count == 300 && found > 1000)
    }
}
