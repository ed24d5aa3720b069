// Numbers for new rows, taken from the file by the block.

import CoreDataValues
import Foundation
import Synchronization

/// Blocks of row numbers kept in memory. A block is taken in a transaction of its own, so two processes never
/// share a number; what is left when the store closes is lost, which leaves gaps.
final class KeyBlocks: Sendable {
    private struct Block {
        var numbers: Range<Int64> = 0..<0
        /// How many numbers the next block has: twice as many each time, since who has inserted much goes on.
        var next = KeyBlocks.smallest
    }
    /// By root entity, as far as they were asked for.
    private let blocks = Mutex<[Block]>([])

    static var smallest: Int { 64 }
    static var largest: Int { 1024 }

    /// - Parameter reserve: takes so many numbers from the file. Whoever needs a block waits for the writer, as for a save.
    func take(
        _ count: Int, of root: EntityIndex, on pool: Pool, reserve: (Int, Connection) throws -> Range<Int64>
    ) throws -> Range<Int64> {
        if let numbers = kept(count, of: root) { return numbers }
        return try pool.write { writer in
            // Whoever wrote before may have brought a block.
            if let numbers = kept(count, of: root) { return numbers }
            return add(try reserve(max(count, nextSize(of: root)), writer), of: root, taking: count)
        }
    }

    /// Numbers of the block in memory; nil when it has too few.
    private func kept(_ count: Int, of root: EntityIndex) -> Range<Int64>? {
        blocks.withLock { blocks in
            guard root.value < blocks.count, blocks[root.value].numbers.count >= count else { return nil }
            let first = blocks[root.value].numbers.lowerBound
            let end = first + Int64(count)
            blocks[root.value].numbers = end..<blocks[root.value].numbers.upperBound
            return first..<end
        }
    }

    private func nextSize(of root: EntityIndex) -> Int {
        blocks.withLock { blocks in
            while blocks.count <= root.value { blocks.append(Block()) }
            defer { blocks[root.value].next = min(2 * blocks[root.value].next, Self.largest) }
            return blocks[root.value].next
        }
    }

    private func add(_ fresh: Range<Int64>, of root: EntityIndex, taking count: Int) -> Range<Int64> {
        blocks.withLock { blocks in
            let former = blocks[root.value].numbers
            let all = former.upperBound == fresh.lowerBound ? former.lowerBound..<fresh.upperBound : fresh
            let end = all.lowerBound + Int64(count)
            blocks[root.value].numbers = end..<all.upperBound
            return all.lowerBound..<end
        }
    }
}
