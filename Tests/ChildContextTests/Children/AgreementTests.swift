// Random edits through a child leave the same store as the same edits without one.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct AgreementTests {
    /// One graph that is edited, by codes, so that the same edits can be made to another.
    private final class Graph {
        let stack: Stack
        let chain: [NSManagedObjectContext]
        private var objects: [[Int: NSManagedObject]]
        private let remains: Remains
        var context: NSManagedObjectContext { chain[0] }

        /// - Parameter depth: how many contexts lie above the one that is edited.
        init(depth: Int, _ remains: Remains) throws {
            self.remains = remains
            stack = try Stack(NSInMemoryStoreType, undo: false)
            var chain = [stack.context]
            for _ in 0..<depth { chain.insert(chain[0].child(), at: 0) }
            self.chain = chain
            objects = Array(repeating: [:], count: 4)
        }

        static let entities = ["Patient", "Ward", "Doctor", "Bed"]

        func object(_ entity: Int, _ code: Int) -> NSManagedObject? { objects[entity][code] }

        func insert(_ entity: Int, _ code: Int) {
            var values: [String: Any] = ["code": code]
            if entity < 3 { values["name"] = "n\(code)" }
            let object = context.make(Graph.entities[entity], values)
            remains.watch(object as NSObject)
            objects[entity][code] = object
        }

        func delete(_ entity: Int, _ code: Int) {
            guard let object = objects[entity].removeValue(forKey: code) else { return }
            context.delete(object)
            context.processPendingChanges()
        }

        func addVisit(_ patient: Int, _ code: Int) {
            guard let owner = object(0, patient) else { return }
            let visit = context.make("Visit", ["note": "v\(code)", "code": code])
            let old = (owner.value(forKey: "visits") as? NSOrderedSet)?.array ?? []
            var all = old
            all.insert(visit, at: code % (old.count + 1))
            owner.setValue(NSOrderedSet(array: all), forKey: "visits")
        }

        func turnVisits(_ patient: Int) {
            guard let owner = object(0, patient) else { return }
            let visits = (owner.value(forKey: "visits") as? NSOrderedSet)?.array ?? []
            owner.setValue(NSOrderedSet(array: visits.reversed()), forKey: "visits")
        }

        func setMember(_ patient: Int, _ doctor: Int) {
            guard let patient = object(0, patient), let doctor = object(2, doctor) else { return }
            var members = patient.members("doctors")
            if members.remove(doctor) == nil { members.insert(doctor) }
            patient.setValue(members as NSSet, forKey: "doctors")
        }

        func save(_ count: Int) throws {
            for context in chain.prefix(count) {
                try context.save()
                remains.watch(context)
            }
        }

        func dump() throws -> [String] {
            let context = stack.another()
            func code(_ object: Any?) -> Int { (object as? NSManagedObject)?.value(forKey: "code") as? Int ?? -1 }
            var lines: [String] = []
            for entity in Graph.entities {
                for object in try context.all(entity) {
                    var line = "\(entity) \(code(object))"
                    if entity == "Patient" {
                        line += " ward \(code(object.value(forKey: "ward"))) bed \(code(object.value(forKey: "bed")))"
                        line += " doctors \(object.members("doctors").map(code).sorted()) visits \(object.notes())"
                        line += " age \(object.value(forKey: "age") as? Int ?? -1)"
                    }
                    if entity == "Ward" { line += " patients \(object.members("patients").map(code).sorted())" }
                    if entity == "Doctor" { line += " patients \(object.members("patients").map(code).sorted())" }
                    if entity == "Bed" { line += " patient \(code(object.value(forKey: "patient")))" }
                    lines.append(line)
                }
            }
            return lines.sorted()
        }
    }

    private struct Dice: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    @Test(
        "The same edits, made through a child or a grandchild, save the same and leave nothing behind",
        arguments: 0..<60)
    func agree(_ seed: Int) throws {
        let remains = Remains()
        try agree(seed, remains)
        #expect(remains.alive == [])
    }

    private func agree(_ seed: Int, _ remains: Remains) throws {
        var dice = Dice(state: UInt64(seed) &* 977 &+ 13)
        let graphs = try (0..<3).map { try Graph(depth: $0, remains) }
        for step in 0..<120 {
            let kind = Int.random(in: 0..<12, using: &dice)
            let (a, b) = (Int.random(in: 0..<12, using: &dice), Int.random(in: 0..<12, using: &dice))
            for graph in graphs { try edit(graph, kind, a, b, step) }
        }
        for graph in graphs { try graph.save(3) }
        let expected = try graphs[0].dump()
        #expect(try graphs[1].dump() == expected)
        #expect(try graphs[2].dump() == expected)
    }

    private func edit(_ graph: Graph, _ kind: Int, _ a: Int, _ b: Int, _ step: Int) throws {
        switch kind {
        case 0, 1: if graph.object(a % 4, b) == nil { graph.insert(a % 4, b) }
        case 2: graph.delete(a % 4, b)
        case 3: graph.object(0, a)?.setValue(graph.object(1, b), forKey: "ward")
        case 4: graph.object(0, a)?.setValue(graph.object(3, b), forKey: "bed")
        case 5: graph.object(3, a)?.setValue(graph.object(0, b), forKey: "patient")
        case 6: graph.setMember(a, b)
        case 7: graph.addVisit(a, step)
        case 8: graph.turnVisits(a)
        case 9: graph.object(0, a)?.setValue(step, forKey: "age")
        case 10: try graph.save(1 + b % 3)
        default: if b == 0 { graph.context.refreshAllObjects() } else { try graph.save(1) }
        }
    }
}
