// Random writes to every shape of relationship, by every way there is, against the naive reference.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// One run: a context and the reference beside it.
private final class Run {
    let stack: Stack
    var context: NSManagedObjectContext { stack.context }
    var graph = Graph()
    var objects: [Int: NSManagedObject] = [:]
    var random: SplitMix
    var past: [Graph] = []
    var future: [Graph] = []
    var trace: [String] = []
    private var made = 0
    private var saved = Graph()
    let undoes: Bool

    init(_ type: String, seed: UInt64, undo: Bool) throws {
        stack = try Web.stack(type, undo: undo)
        undoes = undo
        // Neighbouring seeds would otherwise be neighbouring places in one and the same sequence.
        var source = SplitMix(seed)
        random = SplitMix(source.next())
    }

    // MARK: Steps

    func step() throws {
        let before = graph
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<12 where graph.entities.count < 12: insert()
        case 12..<15: delete()
        case 15: return rollback()
        case 16..<20: return try save()
        case 20..<22: return refresh()
        case 22..<38 where undoes: return undo()
        case 38..<46 where undoes: return redo()
        default: write()
        }
        // Setting an equal value is an event too (3.6), with an undo action of its own.
        let isEvent = !context.tracker.log.isEmpty
        context.processPendingChanges()
        guard undoes, isEvent else { return }
        past.append(before)
        future = []
    }

    func insert() {
        let entities = ["Node", "Node", "Boss", "Tag", "Tag", "Step", "Step", "Badge", "Dog", "Cat"]
        let entity = entities[Int.random(in: 0..<entities.count, using: &random)]
        made += 1
        trace.append("insert \(entity) \(made)")
        objects[made] = context.make(entity, ["n": made])
        graph.entities[made] = entity
        graph.targets[made] = [:]
    }

    private func delete() {
        guard let id = graph.entities.keys.sorted().randomElement(using: &random), let object = objects[id] else {
            return
        }
        trace.append("delete \(id)")
        for other in graph.entities.keys.sorted() {
            for link in Graph.links(of: graph.entities[other] ?? "") where link.inverse == nil {
                let kept = graph[other, link].filter { $0 != id }
                if kept.count < graph[other, link].count { put(other, link, kept) }
            }
        }
        context.delete(object)
        graph.remove(id)
    }

    private func write() {
        guard let id = graph.entities.keys.sorted().randomElement(using: &random),
            let link = Graph.links(of: graph.entities[id] ?? "").randomElement(using: &random)
        else { return }
        let candidates = graph.entities.keys.sorted().filter {
            Graph.isKind(graph.entities[$0] ?? "", of: link.destination)
        }
        var new = candidates.shuffled(using: &random)
        if !link.isToMany {
            // Few and oneself, so that pairs meet again.
            if Bool.random(using: &random) {
                new = ([id] + candidates.prefix(2)).filter(candidates.contains).shuffled(using: &random)
            }
            new = Array(new.prefix(Int.random(in: 0...5, using: &random) == 0 ? 0 : 1))
        } else {
            new = Array(new.prefix(Int.random(in: 0...4, using: &random)))
        }
        if link.name == "likes" { release(new, from: link, except: id) }
        let way = Int.random(in: 0..<7, using: &random)
        trace.append("write \(id).\(link.name) \(new) way \(way)")
        if link.isToMany, link.isOrdered, way > 2 {
            writeOrdered(id, link, new, way)
        } else if link.isToMany, way > 2 {
            writeSet(id, link, new, way)
        } else if way == 0 {
            announce(id, link, new)
        } else {
            put(id, link, new)
        }
    }

    /// Without an inverse a member has one owner in the store.
    private func release(_ members: [Int], from link: Link, except id: Int) {
        for other in graph.entities.keys.sorted()
        where other != id && Graph.isKind(graph.entities[other] ?? "", of: "Node") {
            let kept = graph[other, link].filter { !members.contains($0) }
            if kept != graph[other, link] { put(other, link, kept) }
        }
    }

    /// As a whole, by key.
    private func put(_ id: Int, _ link: Link, _ new: [Int]) {
        objects[id]?.setValue(value(link, new), forKey: link.name)
        graph.set(id, link, new)
    }

    private func value(_ link: Link, _ new: [Int]) -> Any? {
        let targets = new.compactMap { objects[$0] }
        if !link.isToMany { return targets.first }
        return link.isOrdered ? NSOrderedSet(array: targets) : NSSet(array: targets)
    }

    /// As a custom accessor does.
    private func announce(_ id: Int, _ link: Link, _ new: [Int]) {
        objects[id]?.willChangeValue(forKey: link.name)
        objects[id]?.setPrimitiveValue(value(link, new), forKey: link.name)
        objects[id]?.didChangeValue(forKey: link.name)
        graph.set(id, link, new)
    }

    private func writeSet(_ id: Int, _ link: Link, _ new: [Int], _ way: Int) {
        guard let set = objects[id]?.mutableSetValue(forKey: link.name) else { return }
        let targets = Set(new.compactMap { objects[$0] })
        let present = graph[id, link]
        switch way {
        case 3:
            set.union(targets)
            graph.set(id, link, present + new.filter { !present.contains($0) })
        case 4:
            set.minus(targets)
            graph.set(id, link, present.filter { !new.contains($0) })
        case 5:
            set.intersect(targets)
            graph.set(id, link, present.filter { new.contains($0) })
        default:
            set.setSet(targets)
            graph.set(id, link, new)
        }
    }

    private func writeOrdered(_ id: Int, _ link: Link, _ new: [Int], _ way: Int) {
        guard let set = objects[id]?.mutableOrderedSetValue(forKey: link.name), let first = new.first,
            let target = objects[first]
        else { return }
        var list = graph[id, link]
        switch way {
        case 3:
            let place = Int.random(in: 0...list.count, using: &random)
            set.insert(target, at: place)
            if !list.contains(first) { list.insert(first, at: place) }
        case 4 where !list.isEmpty:
            let place = Int.random(in: 0..<list.count, using: &random)
            set.removeObject(at: place)
            list.remove(at: place)
        case 5 where !list.isEmpty:
            let (from, to) = (
                Int.random(in: 0..<list.count, using: &random), Int.random(in: 0..<list.count, using: &random)
            )
            set.moveObjects(at: IndexSet(integer: from), to: to)
            list.insert(list.remove(at: from), at: to)
        default:
            set.addObjects(from: new.compactMap { objects[$0] })
            list += new.filter { !list.contains($0) }
        }
        graph.set(id, link, list)
    }

    private func save() throws {
        trace.append("save")
        try context.save()
        saved = graph
        try compare(with: stack.another())
    }

    private func rollback() {
        trace.append("rollback")
        context.rollback()
        graph = saved
        (past, future) = ([], [])
    }

    private func refresh() {
        trace.append("refresh")
        context.refreshAllObjects()
    }

    private func undo() {
        guard let former = past.popLast() else { return }
        trace.append("undo")
        context.undo()
        future.append(graph)
        graph = former
    }

    private func redo() {
        guard let next = future.popLast() else { return }
        trace.append("redo")
        context.redo()
        past.append(graph)
        graph = next
    }

    // MARK: Comparing

    /// The first difference between context and reference.
    func difference() -> String? {
        for (id, entity) in graph.entities.sorted(by: { $0.key < $1.key }) {
            guard let object = objects[id] else { return "\(id) is missing" }
            if let found = difference(of: object, id, entity) { return found }
        }
        return nil
    }

    private func difference(of object: NSManagedObject, _ id: Int, _ entity: String) -> String? {
        for link in Graph.links(of: entity) {
            let expected = graph[id, link]
            let found = link.isToMany ? object.many(link.name) : object.one(link.name).map { [$0] } ?? []
            let numbers = found.map { $0.value(forKey: "n") as? Int ?? -1 }
            let same = link.isOrdered ? numbers == expected : numbers.sorted() == expected.sorted()
            if !same { return "\(id).\(link.name) is \(numbers), not \(expected)" }
        }
        return nil
    }

    private func compare(with reader: NSManagedObjectContext) throws {
        let found = try ["Node", "Tag", "Step", "Badge", "Animal"].flatMap { try reader.all($0) }
        let numbers = found.map { $0.value(forKey: "n") as? Int ?? -1 }
        guard numbers.sorted() == graph.entities.keys.sorted() else {
            throw Difference("the store has \(numbers.sorted()), not \(graph.entities.keys.sorted())", trace)
        }
        for (id, object) in zip(numbers, found) {
            if let found = difference(of: object, id, graph.entities[id] ?? "") {
                throw Difference("stored: " + found, trace)
            }
        }
    }
}

private struct Difference: Error, CustomStringConvertible {
    let description: String
    init(_ text: String, _ trace: [String]) { description = text + "\n" + trace.joined(separator: "\n") }
}

@Suite struct RandomGraphTests {
    private func run(_ type: String, _ seed: UInt64, undo: Bool, steps: Int) throws {
        let run = try Run(type, seed: seed, undo: undo)
        for _ in 0..<8 { run.insert() }
        run.context.processPendingChanges()
        if undo { run.context.undoManager?.removeAllActions() }
        for _ in 0..<steps {
            try run.step()
            if let found = run.difference() { throw Difference("seed \(seed): " + found, run.trace) }
        }
    }

    private func seeds(_ type: String) -> Int {
        switch type {
        case NSInMemoryStoreType: 120
        case NSSQLiteStoreType: 30
        default: 5
        }
    }

    @Test("4.1 Random writes to every shape keep both sides in step, here and in the store", arguments: everyStore)
    func shapes(_ type: String) throws {
        for seed in 0..<seeds(type) { try run(type, UInt64(seed), undo: false, steps: 60) }
    }

    @Test("4.1 Undo and redo of random writes give each former graph back", arguments: everyStore)
    func undo(_ type: String) throws {
        for seed in 0..<seeds(type) { try run(type, UInt64(1000 + seed), undo: true, steps: 60) }
    }
}
