// Set changes that are worked out row by row while another thread writes the same rows.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Set changes row by row between other writers")
struct SetRivalTests {
    private static let stores = StoreMaker.all.filter { ["SQLiteStore", "MemoryStore"].contains($0.rowsClass) }

    @Test(
        "Each comes through at its first attempt, however often another thread of the process writes", arguments: stores
    )
    func rival(_ maker: StoreMaker) throws {
        nonisolated(unsafe) let subject = try Subject.sets(maker)
        for start in stride(from: 0, to: 4000, by: 200) {
            try subject.insert(
                "Part", (1...200).map { ["number": .int(Int64(start + $0)), "price": .double(Double($0))] })
        }
        let isDone = Atomic<Bool>(false)
        let rivals = Atomic<Int>(0)
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            do {
                guard thread == 0 else {
                    // One statement of one row: hundreds of these fit between the reading of 4,000 rows and their writing.
                    while !isDone.load(ordering: .acquiring) {
                        try subject.set("Part", compare(path("number"), .equal, int(1)), [("name", text("rival"))])
                        rivals.wrappingAdd(1, ordering: .relaxed)
                    }
                    return
                }
                defer { isDone.store(true, ordering: .releasing) }
                // What a Float becomes is computed row by row.
                for _ in 0..<6 {
                    try subject.set("Part", nil, [("weight", call("multiply:by:", path("price"), real(0.1)))])
                }
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        #expect(failures.withLock { $0 } == [])
        let versions = try subject.fetch("Part").sorted { $0.key.number < $1.key.number }.map(\.version)
        #expect(versions == [Int32(7 + rivals.load(ordering: .relaxed))] + Array(repeating: 7, count: 3999))
    }

    @Test("A large value that is assigned so lies in one file for each row, and none is left of what it replaced")
    func files() throws {
        let subject = try Subject.sets(StoreMaker.all[1])
        let keys = try subject.insert("Part", (1...3).map { ["number": .int(Int64($0)), "price": .double(1)] })
        for byte in 1...3 as ClosedRange<UInt8> {
            let value = Data(repeating: byte, count: 150_000)
            #expect(try subject.set("Part", nil, [("plan", .constant(.data(value)))]).count == 3)
            for key in keys { #expect(try subject.external(key, "plan") == value) }
            #expect(subject.files.count == 3)
        }
        try subject.delete("Part")
        #expect(subject.files.isEmpty)
    }
}
