// What an identity table knows of the rows whose objects were let go.

import CoreDataSeeds
import Testing

@testable import CoreData

@Suite struct GoneVersionsTests {
    /// Stands for an object; nobody looks at it.
    private func object(_ number: Int) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(bitPattern: 0x10000 + 16 * number).unsafelyUnwrapped
    }

    @Test(
        "6.2 A table remembers the versions of rows whose few objects went one by one, in their order or not",
        arguments: [1, 7])
    func few(_ stride: Int) {
        var table = IdentityTable()
        for start in [0, 500] {
            for number in start..<start + 30 { table.add(Int64(number) * 1000, object(number)) }
            for place in 0..<30 {
                let number = start + place * stride % 30
                table.remove(Int64(number) * 1000, object(number), Int32(number))
            }
            let isClear = table.isClear
            #expect(isClear)
        }
        for number in Array(0..<30) + Array(500..<530) {
            let version = table.version(Int64(number) * 1000)
            #expect(version == Int32(number))
        }
        let other = table.version(17)
        #expect(other == nil)
    }

    @Test(
        "6.2 What was read last counts where several objects of one row went, and one whose row was not read says nothing"
    )
    func again() {
        var table = IdentityTable()
        for (version, known) in [(1, 1), (4, 4), (IdentityTable.noVersion, 4), (2, 2), (300, 300)] as [(Int32, Int32)] {
            table.add(9, object(1))
            table.remove(9, object(1), version)
            let found = table.version(9)
            #expect(found == known)
        }
        table.add(9, object(2))
        let held = table.version(9)
        table.note(9, 301)
        let noted = table.version(9)
        table.remove(9, object(2), IdentityTable.noVersion)
        let unread = table.version(9)
        table.remove(9, object(3), 302)
        let replaced = table.version(9)
        #expect([held, noted, unread, replaced] == [300, 301, 301, 302])
    }

    @Test("6.2 A row that was forgotten is known again when its next object goes")
    func forgotten() {
        var table = IdentityTable()
        for number in 0..<20 {
            table.add(Int64(number % 10), object(number))
            table.remove(Int64(number % 10), object(number), 5)
        }
        table.forgetVersion(3)
        for number in Int64(0)..<10 {
            let version = table.version(number)
            #expect(version == (number == 3 ? nil : 5))
        }
        table.forgetVersions()
        for number in Int64(0)..<10 {
            let version = table.version(number)
            #expect(version == nil)
        }
        table.add(3, object(3))
        table.remove(3, object(3), 6)
        let version = table.version(3)
        #expect(version == 6)
    }

    @Test(
        "6.2 A table of few or of many objects knows what a dictionary knows", arguments: [2, 12, 40, 200],
        0..<UInt64(4))
    func walk(_ most: Int, _ seed: UInt64) {
        var random = SplitMix(seed)
        var table = IdentityTable()
        var known: [Int64: Int32] = [:]
        var living: [(number: Int64, object: UnsafeMutableRawPointer)] = []
        let numbers = (0..<Int64(300)).map { $0 * $0 * 31 + 1 }
        for step in 0..<2000 {
            let number = numbers[Int.random(in: 0..<numbers.count, using: &random)]
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<50:
                guard living.count < most, !living.contains(where: { $0.number == number }) else { continue }
                living.append((number, object(step)))
                table.add(number, object(step))
            case 50..<94:
                guard !living.isEmpty else { continue }
                let gone = living.remove(
                    at: Bool.random(using: &random) ? 0 : Int.random(in: 0..<living.count, using: &random))
                let version: Int32 =
                    [IdentityTable.noVersion, -1, 1, 2, 252, 253, 70_000].randomElement(using: &random) ?? 0
                table.remove(gone.number, gone.object, version)
                if version != IdentityTable.noVersion { known[gone.number] = version }
            case 94..<96:
                table.note(number, Int32(step))
                known[number] = Int32(step)
            case 96..<99:
                table.forgetVersion(number)
                known[number] = nil
            default:
                guard step % 10 == 0 else { continue }
                table.forgetVersions()
                known = [:]
            }
            guard step % 50 == 0 else { continue }
            for number in numbers {
                let version = table.version(number)
                if version != known[number] { Issue.record("\(step): \(number)") }
            }
        }
    }
}
