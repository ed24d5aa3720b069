// Random batches and fetches: every store answers as the one in memory does.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

/// Makes batches that fit the rows written so far, and sometimes stale ones.
struct RandomBatches {
    var random: SplitMix
    var live: [RowKey: Int32] = [:]
    private var serial: Int64 = 0

    init(seed: UInt64) { random = SplitMix(seed) }

    func pick(_ entity: Entity) -> [RowKey] {
        live.keys.filter { entity.index <= $0.entity && $0.entity <= entity.last }.sorted { $0.number < $1.number }
    }

    mutating func values(_ entity: Entity, _ subject: Subject) throws -> [String: Value] {
        let texts = [
            "", "a", "A", "b", "B", "\u{e9}", "e\u{301}", "\u{c9}", "\u{df}", "SS", "\u{1f600}", "z\u{0}", "10", "9",
        ]
        var values: [String: Value] = [:]
        for slot in entity.slots where slot.kind != .entityTag && Bool.random(using: &random) {
            switch slot.kind {
            case .int:
                serial += 1
                values[slot.name] = .int(serial)
            case .bool: values[slot.name] = .bool(.random(using: &random))
            case .double, .float: values[slot.name] = .double(Double(Int.random(in: -9...9, using: &random)) / 4)
            case .date: values[slot.name] = .date(Double(Int.random(in: -9...9, using: &random)))
            case .text:
                // Names are unique: from few of them nearly every batch would be refused, and nothing be compared.
                let ending = slot.name == "name" ? String(Int.random(in: 0...60, using: &random)) : ""
                values[slot.name] = texts.randomElement(using: &random).map { .text($0 + ending) }
            case .uri: values[slot.name] = .uri("x:\(Int.random(in: 0...9, using: &random))")
            case .decimal: values[slot.name] = .decimal(Decimal(Int.random(in: -99...99, using: &random)) / 8)
            case .data: values[slot.name] = .data(Data([UInt8.random(in: 0...9, using: &random)]))
            // The first byte tells that the value lies in the row.
            case .externalData: values[slot.name] = .data(Data([1, UInt8.random(in: 0...9, using: &random)]))
            case .toOne:
                guard let index = slot.relationship else { continue }
                let targets = pick(subject.schema[subject.schema[index].destination])
                values[slot.name] = targets.randomElement(using: &random).map(target)
            case .uuid, .transformable, .entityTag: break
            }
        }
        if entity.slots.contains(where: { $0.name == "serial" }) {
            serial += 1
            values["serial"] = .int(serial)
        }
        return values
    }

    /// A batch, and the versions that the rows have when it is written.
    mutating func next(_ subject: Subject) throws -> (ChangeBatch, [RowKey: Int32]) {
        var (batch, after) = (ChangeBatch(), live)
        for name in ["Item", "SpecialItem", "Person", "Employee", "Folder", "Label", "Note"] {
            let entity = try subject.entity(name)
            let keys = try subject.keys(name, Int.random(in: 0...3, using: &random))
            let rows = try keys.map { ($0, try values(entity, subject)) }
            if !rows.isEmpty { batch.inserts.append(try subject.chunk(rows)) }
            for key in keys { after[key] = 1 }
        }
        for key in live.keys.sorted(by: { ($0.entity, $0.number) < ($1.entity, $1.number) }) {
            guard let version = live[key] else { continue }
            let expected = Int.random(in: 0..<200, using: &random) == 0 ? version + 1 : version
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                batch.deletes.append(DeleteGroup(entity: key.entity, numbers: [key.number], expected: [expected]))
                after[key] = nil
            case 1, 2:
                let values = try values(subject.schema[key.entity], subject)
                batch.updates.append(try subject.update(key, values, expected: expected))
                after[key] = version + 1
            default: break
            }
        }
        try links(subject, after, &batch)
        return (batch, after)
    }

    private mutating func links(_ subject: Subject, _ after: [RowKey: Int32], _ batch: inout ChangeBatch) throws {
        func rows(_ name: String) throws -> [RowKey] {
            pick(try subject.entity(name)).filter { after[$0] != nil }
        }
        for (entity, name, other) in [("Item", "labels", "Label"), ("Person", "friends", "Person")] {
            guard let owner = try rows(entity).randomElement(using: &random) else { continue }
            let members = try rows(other).filter { $0 != owner }.shuffled(using: &random)
            let present = Set(try subject.members(entity, name, of: owner))
            batch.links.append(
                LinkChange(
                    relationship: try subject.relationship(entity, name), owner: owner,
                    added: Array(members.filter { !present.contains($0.number) }.prefix(2)),
                    removed: Array(members.filter { present.contains($0.number) }.prefix(1))))
        }
        if let owner = try rows("Person").randomElement(using: &random) {
            let added = Array(try rows("Note").shuffled(using: &random).prefix(2))
            batch.adoptions = [
                AdoptionChange(
                    relationship: try subject.relationship("Person", "notes"), owner: owner, added: added, removed: [])
            ]
        }
    }
}

@Suite struct StoreSpecificationAgreement {
    /// One fetch of items in a random order and with a random cut. Half of the orders leave ties to the rows' numbers.
    func plan(_ subject: Subject, _ random: inout SplitMix) throws -> FetchPlan {
        var plan = FetchPlan(entity: try subject.entity(Bool.random(using: &random) ? "Item" : "SpecialItem").index)
        let paths = [
            "flag", "number", "ratio", "day", "label", "link", "price", "owner", "owner.name", "blob",
            "owner.boss.name",
            "labels.@count",
        ]
        let comparisons: [SortTerm.Comparison] = [
            .binary, .caseInsensitive, .localized, .localizedCaseInsensitive, .localizedStandard,
        ]
        for path in paths.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)) {
            var term = SortTerm(
                keyPath: path.split(separator: ".").map(String.init), isAscending: Bool.random(using: &random))
            if path.hasSuffix("label") || path.hasSuffix("name") {
                term.comparison = comparisons.randomElement(using: &random) ?? .binary
            }
            plan.sort.append(term)
        }
        if Bool.random(using: &random) {
            plan.sort.append(SortTerm(keyPath: ["serial"], isAscending: Bool.random(using: &random)))
        }
        plan.limit = Int.random(in: 0...9, using: &random)
        plan.offset = Int.random(in: 0...4, using: &random)
        plan.includesSubentities = Bool.random(using: &random)
        return plan
    }

    struct Run: CustomTestStringConvertible {
        let maker: StoreMaker
        let seed: UInt64
        var testDescription: String { "\(maker.type) \(seed)" }
    }

    /// More of the store that decides most itself.
    static let runs = StoreMaker.all.filter { $0.type != NSInMemoryStoreType }.flatMap { maker in
        (1...(maker.type == NSSQLiteStoreType ? 4 : 2)).map { Run(maker: maker, seed: $0) }
    }

    @Test(
        "Random batches and fetches come out as in memory",
        arguments: StoreSpecificationAgreement.runs)
    func agree(_ run: Run) throws {
        let (maker, seed) = (run.maker, run.seed)
        let memory = try Subject(StoreMaker.all[0], like: maker)
        let other = try Subject(maker)
        var batches = RandomBatches(seed: seed)
        var (compared, refused, rows) = (0, 0, 0)
        for _ in 0..<12 {
            let (batch, after) = try batches.next(other)
            let expected = try memory.conflicts(batch)
            let conflicts = try other.conflicts(batch)
            #expect(expected.isEmpty == conflicts.isEmpty, "seed \(seed): \(expected) / \(conflicts)")
            if conflicts.isEmpty { batches.live = after } else { refused += 1 }
            #expect(try memory.everything() == other.everything())
            for _ in 0..<12 {
                let plan = try plan(memory, &batches.random)
                let found = try other.fetch(plan)
                rows += found.count
                #expect(try memory.fetch(plan) == found, "seed \(seed): \(plan)")
                #expect(try memory.store.count(plan, .latest) == other.store.count(plan, .latest))
                compared += 1
            }
            for relationship in memory.schema.relationships where relationship.isToMany {
                for owner in batches.pick(memory.schema[relationship.owner]) {
                    let name = memory.schema[relationship.owner].name
                    let a = try memory.members(name, relationship.name, of: owner)
                    let b = try other.members(name, relationship.name, of: owner)
                    #expect(a.sorted() == b.sorted(), "seed \(seed): \(name).\(relationship.name) of \(owner)")
                    compared += 1
                }
            }
        }
        #expect(
            compared >= 150 && rows >= 300 && refused < 9,
            "\(compared) compared, \(rows) rows, \(refused) of 12 refused")
    }
}
