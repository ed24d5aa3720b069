// Chunks of every size keep their rows apart, on any thread, however they come and go.

import CoreDataValues
import Foundation
import Testing

@Suite("Row chunks")
struct RowChunkTests {
    /// A chunk filled with what only it would hold, and the check that it still does.
    private struct Filled {
        let chunk: RowChunk
        let seed: UInt64
        let texts: [Int]

        init(_ layout: RowLayout, rows: Int, seed: UInt64, random: inout SystemRandomNumberGenerator) {
            chunk = RowChunk(layout: layout, capacity: rows, arenaCapacity: Int.random(in: 0...6000, using: &random))
            self.seed = seed
            texts = (0..<rows).map { _ in Int.random(in: 0...400, using: &random) }
            for (index, length) in texts.enumerated() {
                let row = chunk.appendRow(key: Int64(index), version: 1, entity: layout.entity)
                row.setCell(0, seed ^ UInt64(index))
                let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: seed &+ UInt64(index)), count: length)
                row.setCell(1, bytes.withUnsafeBytes { chunk.store($0) })
            }
            chunk.trimArena()
        }

        var isWhole: Bool {
            texts.indices.allSatisfy { index in
                let row = chunk.row(index)
                guard row.key(chunk.layout) == Int64(index), row[0] == seed ^ UInt64(index) else { return false }
                return chunk.withBytes(of: row[1]) { bytes in
                    bytes.count == texts[index]
                        && bytes.allSatisfy { $0 == UInt8(truncatingIfNeeded: seed &+ UInt64(index)) }
                }
            }
        }
    }

    @Test("Chunks that are made and dropped on eight threads at once never share memory")
    func manyThreads() {
        let layout = RowLayout(entity: EntityIndex(0), kinds: [.int, .text])
        let broken = LockedCount()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            var random = SystemRandomNumberGenerator()
            var live: [Filled] = []
            for step in 0..<600 {
                let seed = UInt64(thread) << 32 | UInt64(step)
                live.append(Filled(layout, rows: Int.random(in: 1...60, using: &random), seed: seed, random: &random))
                if live.count > 40 || Int.random(in: 0..<3, using: &random) == 0 {
                    let gone = live.remove(at: Int.random(in: live.indices, using: &random))
                    if !gone.isWhole { broken.add() }
                }
            }
            for chunk in live where !chunk.isWhole { broken.add() }
        }
        #expect(broken.value == 0)
    }

    @Test("An arena that is too small moves, and one that is given back is used again")
    func growth() {
        let layout = RowLayout(entity: EntityIndex(0), kinds: [.int, .text])
        for _ in 0..<3 {
            let chunk = RowChunk(layout: layout, capacity: 20, arenaCapacity: 3000)
            let room = chunk.arenaCapacity
            #expect(room >= 3000)
            var cells: [UInt64] = []
            for value in 0..<20 {
                cells.append([UInt8](repeating: UInt8(value), count: 900).withUnsafeBytes { chunk.store($0) })
            }
            #expect(chunk.arenaCapacity > room)
            for (value, cell) in cells.enumerated() {
                #expect(chunk.withBytes(of: cell) { $0.count == 900 && $0.allSatisfy { $0 == UInt8(value) } })
            }
        }
    }
}

private final class LockedCount: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0
    var value: Int { lock.withLock { count } }
    func add() { lock.withLock { count += 1 } }
}
