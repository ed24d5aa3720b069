// Random projections of random rows: every store answers as the one in memory does.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

/// Writes projections.
private struct RandomProjection {
    var random: SplitMix

    init(seed: UInt64) { random = SplitMix(seed) }

    private mutating func pick<T>(_ all: [T]) -> T { all[Int.random(in: 0..<all.count, using: &random)] }
    private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    private static let keys = [
        "flag", "number", "ratio", "day", "label", "link", "price", "owner", "owner.name", "blob", "owner.boss.name",
        "folder", "serial",
    ]
    private static let numbers = ["serial", "number", "ratio", "price", "flag", "owner.items.@count", "labels.@count"]

    private mutating func key() -> Expression {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: path("labels.@count")
        case 1: call("length:", path("label"))
        case 2: call("modulus:by:", path("serial"), .constant(.int(3)))
        case 3: call("add:to:", path(pick(Self.numbers)), path(pick(Self.numbers)))
        case 4: call("uppercase:", path(pick(["label", "owner.name"])))
        default: path(pick(Self.keys))
        }
    }

    private mutating func aggregate() -> Expression {
        var argument =
            chance(4)
            ? call("multiply:by:", path(pick(Self.numbers)), .constant(.double(0.5))) : path(pick(Self.numbers))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return path("@count")
        case 1, 2:
            argument = path(pick(Self.keys))
            return call("count:", chance(2) ? call("distinct:", argument) : argument)
        case 3: return call(pick(["min:", "max:"]), path(pick(["label", "day", "link", "owner.name", "blob"])))
        case 4: return call("divide:by:", call("sum:", argument), call("count:", .this))
        default:
            return call(pick(["sum:", "average:", "min:", "max:"]), chance(4) ? call("distinct:", argument) : argument)
        }
    }

    private mutating func predicate() -> Predicate {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: test(path("serial"), .greater, .int(Int64(Int.random(in: 0...60, using: &random))))
        case 1: test(path("owner"), .equal, .null)
        case 2: .not(test(path("label"), .equal, .null))
        case 3: test(path("labels.@count"), .greater, .int(0))
        default: test(path("flag"), .notEqual, .bool(true))
        }
    }

    private mutating func having(_ columns: [ValueProjection.Column]) -> Predicate {
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            test(path("@count"), pick([.greater, .less, .equal]), .int(Int64(Int.random(in: 1...4, using: &random))))
        case 1: .not(test(call("sum:", path(pick(Self.numbers))), .less, .double(2)))
        case 2: test(call("max:", path("label")), .notEqual, .null)
        case 3: test(.variable(pick(columns).name), .notEqual, .null)
        default:
            .or([test(path("@min.serial"), .less, .int(20)), test(call("count:", path("price")), .equal, .int(0))])
        }
    }

    /// A plan, and whether its result has a known order.
    mutating func plan(_ subject: Subject) throws -> (FetchPlan, isOrdered: Bool) {
        var plan = FetchPlan(entity: try subject.entity(chance(4) ? "SpecialItem" : "Item").index)
        plan.includesSubentities = !chance(5)
        if chance(3) { plan.predicate = predicate() }
        let isGrouped = chance(2)
        let grouping = isGrouped ? (0..<Int.random(in: 0...2, using: &random)).map { _ in key() } : []
        var expressions: [Expression] = isGrouped ? grouping.filter { _ in !chance(4) } : []
        for _ in 0..<Int.random(in: (expressions.isEmpty ? 1 : 0)...3, using: &random) {
            expressions.append(isGrouped ? aggregate() : key())
        }
        let columns = expressions.enumerated().map { column("c\($0.offset)", $0.element) }
        let isDistinct = chance(4)
        plan.projection = .values(
            ValueProjection(
                columns, grouping: grouping, having: grouping.isEmpty || chance(2) ? nil : having(columns),
                isDistinct: isDistinct))
        let isOrdered = !chance(3)
        guard isOrdered else { return (plan, false) }
        for place in columns.indices.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random)) {
            var term = by("c\(place)", !chance(2))
            if chance(3) { term.comparison = pick([.caseInsensitive, .localizedStandard]) }
            plan.sort.append(term)
        }
        if !isGrouped, !isDistinct, chance(2) {
            plan.sort.append(by(pick(["owner.name", "labels.@count", "day"]), !chance(2)))
        }
        plan.limit = chance(2) ? Int.random(in: 1...9, using: &random) : 0
        plan.offset = chance(3) ? Int.random(in: 0...4, using: &random) : 0
        return (plan, true)
    }
}

@Suite struct ValueAgreementTests {
    struct Run: CustomTestStringConvertible {
        let maker: StoreMaker
        let seed: UInt64
        var testDescription: String { "\(maker.type) \(seed)" }
    }

    /// More of the store that decides most itself; the file stores answer from memory.
    static let runs = StoreMaker.all.filter { [NSSQLiteStoreType, BoxStore.type, ShelfStore.type].contains($0.type) }
        .flatMap { maker in
            (1...(maker.type == NSSQLiteStoreType ? 4 : 1)).map { Run(maker: maker, seed: $0) }
        }

    @Test("Random projections come out as in memory", arguments: runs)
    func agree(_ run: Run) throws {
        let memory = try Subject(StoreMaker.all[0], like: run.maker)
        let other = try Subject(run.maker)
        var batches = RandomBatches(seed: run.seed &* 7919)
        var projections = RandomProjection(seed: run.seed)
        var (compared, rows) = (0, 0)
        for _ in 0..<12 {
            let (batch, after) = try batches.next(other)
            let conflicts = try other.conflicts(batch)
            #expect(try memory.conflicts(batch).isEmpty == conflicts.isEmpty)
            if conflicts.isEmpty { batches.live = after }
            for _ in 0..<60 {
                let (plan, isOrdered) = try projections.plan(memory)
                var (expected, found) = (try memory.values(plan), try other.values(plan))
                if !isOrdered { (expected, found) = (expected.inAnyOrder, found.inAnyOrder) }
                #expect(expected.isSame(as: found), "seed \(run.seed): \(describe(plan))\n\(expected)\n\(found)")
                compared += 1
                rows += found.count
            }
        }
        #expect(compared == 720 && rows > 2000, "\(rows) rows")
    }

    private func describe(_ plan: FetchPlan) -> String {
        guard case .values(let values) = plan.projection else { return "" }
        return
            "\(values.columns) by \(values.grouping) having \(String(describing: values.having)) distinct \(values.isDistinct) \(plan)"
    }
}

extension [[Value]] {
    /// Equal to the bit, keys by their rows.
    fileprivate func isSame(as other: [[Value]]) -> Bool {
        count == other.count
            && zip(self, other).allSatisfy { a, b in a.count == b.count && zip(a, b).allSatisfy { $0.isSame(as: $1) } }
    }
}

extension Value {
    fileprivate func isSame(as other: Value) -> Bool {
        // Of a target that is gone only its number is known.
        if case .key(let a) = self, case .key(let b) = other { return a.number == b.number }
        return isIdentical(to: other)
    }
}
