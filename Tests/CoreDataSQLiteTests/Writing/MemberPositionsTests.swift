// The positions of ordered members: right whatever a file holds, and as few writes as a change needs.

import CoreDataSeeds
import CoreDataValues
import Testing

@testable import CoreDataSQL

@Suite("Member positions")
struct MemberPositionsTests {
    /// How many stand outside of the longest ascent, by trying all pairs.
    private func outsiders(_ held: [Int64?]) -> Int {
        var lengths: [Int] = []
        for (place, number) in held.enumerated() {
            guard let number, number > 0 else {
                lengths.append(0)
                continue
            }
            let before = (0..<place).filter { (held[$0] ?? .max) < number }.map { lengths[$0] }
            lengths.append((before.max() ?? 0) + 1)
        }
        return held.count - (lengths.max() ?? 0)
    }

    /// Checks what always holds, and answers whether members that could have stayed were spread anew.
    private func check(_ held: [Int64?]) -> Bool {
        let wanted = MemberPositions(held: held)
        #expect(wanted.values.count == held.count)
        #expect(zip(wanted.values, wanted.values.dropFirst()).allSatisfy(<), "\(held) became \(wanted.values)")
        #expect(wanted.values.allSatisfy { $0 > 0 })
        #expect(wanted.changed == held.indices.filter { held[$0] != wanted.values[$0] })
        return wanted.changed.count > outsiders(held)
    }

    /// A list as a file holds it, its members moved about, some gone and some new.
    private func moved(_ random: inout SplitMix, step: Int64) -> [Int64?] {
        var list: [Int64?] = (0..<random.below(40)).map { Int64($0 + 1) * step }
        for _ in 0..<random.below(8) {
            if list.isEmpty || random.below(4) == 0 {
                list.insert(nil, at: random.below(list.count + 1))
            } else if random.below(4) == 0 {
                list.remove(at: random.below(list.count))
            } else {
                let member = list.remove(at: random.below(list.count))
                list.insert(member, at: random.below(list.count + 1))
            }
        }
        return list
    }

    @Test("Random moves in lists with room write only the members outside of the longest ascent")
    func roomy() {
        for seed in 0..<3000 as Range<UInt64> {
            var random = SplitMix(seed)
            #expect(!check(moved(&random, step: 1024)), "seed \(seed)")
        }
    }

    @Test("Lists without room, with equal, missing and absurd numbers come out in the wanted order")
    func crowded() {
        var spreads = 0
        for seed in 0..<3000 as Range<UInt64> {
            var random = SplitMix(seed)
            if check(moved(&random, step: Int64(1 + random.below(3)))) { spreads += 1 }
            let odd: [Int64?] = [nil, 0, -1, .min, .max, .max / 4, .max / 4 - 1, 5, 6, 7, 1024, 1024]
            let held = (0..<random.below(30)).map { _ in odd[random.below(odd.count)] }
            _ = check(held)
        }
        #expect(spreads > 300, "the lists were to lack room: \(spreads)")
    }

    @Test("A first writing is 1024 apart, what comes last is 1024 behind, what comes between is half-way")
    func values() {
        #expect(MemberPositions(held: [nil, nil, nil]).values == [1024, 2048, 3072])
        #expect(MemberPositions(held: [1024, 2048, nil]).values == [1024, 2048, 3072])
        #expect(MemberPositions(held: [1024, nil, 2048]).values == [1024, 1536, 2048])
        #expect(MemberPositions(held: [nil, 1024, 2048]).values == [512, 1024, 2048])
        #expect(MemberPositions(held: [1024, nil, nil, nil, 2048]).values == [1024, 1280, 1536, 1792, 2048])
        #expect(MemberPositions(held: [2048, 3072, 1024]).values == [2048, 3072, 4096])
        #expect(MemberPositions(held: []).values == [])
        #expect(MemberPositions(held: [1024, 3072, 4096]).changed == [])
    }

    @Test("A gap without room takes in few neighbours, not the list")
    func spreadAnew() {
        var held: [Int64?] = (1...1000).map { Int64($0) * 1024 }
        let place: Int64 = 500 * 1024
        held.replaceSubrange(500..<501, with: [place + 1, nil, place + 2])
        let changed = MemberPositions(held: held).changed
        #expect(changed.count <= 8 && changed.allSatisfy { (490..<510).contains($0) }, "\(changed)")
    }

    @Test(
        "600 insertions at one place, each written before the next, write ten members each at most",
        arguments: [0, 100, 1000], ["the front", "one place", "each behind the last"])
    func gathered(_ count: Int, _ way: String) {
        var held: [Int64?] = (0..<count).map { Int64($0 + 1) * 1024 }
        var writes = 0
        for turn in 0..<600 {
            let place = way == "the front" ? 0 : count / 2 + (way == "one place" ? 0 : turn)
            held.insert(nil, at: place)
            let wanted = MemberPositions(held: held)
            writes += wanted.changed.count
            held = wanted.values
        }
        #expect(zip(held, held.dropFirst()).allSatisfy { ($0 ?? 0) < ($1 ?? 0) })
        #expect(writes <= 11 * 600, "\(writes)")
    }

    @Test("The longest ascent is as long as the one found by trying all pairs, and ascends")
    func ascent() {
        for seed in 0..<500 as Range<UInt64> {
            var random = SplitMix(seed)
            let numbers = (0..<random.below(30)).map { _ in Int64(1 + random.below(20)) }
            let places = numbers.longestAscent()
            #expect(zip(places, places.dropFirst()).allSatisfy { $0 < $1 && numbers[$0] < numbers[$1] })
            #expect(places.count == numbers.count - outsiders(numbers))
        }
        #expect((0..<100_000).map { Int64($0) }.longestAscent().count == 100_000)
    }

    @Test(
        "Members that moved get positions between their neighbours, wherever and however often, and few others are asked for"
    )
    func movedAlone() throws {
        var asked = 0
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix(seed)
            var list = (0..<2000).map { Int64($0 + 1) * MemberPositions.step }
            for _ in 0..<40 {
                var moved: Set<Int> = []
                // All at one place, or scattered.
                let place = random.below(list.count)
                for step in 0...random.below(4) {
                    let here = seed % 2 == 0 ? place : random.below(list.count)
                    moved = Set(moved.map { $0 >= here ? $0 + 1 : $0 }).union([here])
                    list.insert(-Int64(step) - 1, at: here)
                }
                let wanted = try MovedPositions(moved.sorted(), of: list.count) { place in
                    #expect(!moved.contains(place))
                    asked += 1
                    return list[place]
                }
                for (place, position) in try #require(wanted).changed { list[place] = position }
                #expect(zip(list, list.dropFirst()).allSatisfy(<) && list[0] > 0, "seed \(seed)")
            }
        }
        #expect(asked < 200 * 40 * 40, "\(asked)")
    }

    @Test("Neighbours without a position, or not in order, are left to a look at all of them")
    func movedBesideNone() throws {
        #expect(try MovedPositions([1], of: 3) { _ in nil } == nil)
        #expect(try MovedPositions([1], of: 3) { [20, 0, 10][$0] } == nil)
        #expect(try MovedPositions([1], of: 3) { [-5, 0, 10][$0] } == nil)
        #expect(try MovedPositions([0], of: 1) { _ in nil }?.changed.map(\.position) == [MemberPositions.step])
    }
}
