// Numbers for new rows, allocated in the database by the block.

import CoreDataValues
import Foundation
import Synchronization

/// Blocks of row numbers kept in memory. A block is allocated in a transaction of its own, so two processes never
/// share a number; what is left when the store closes is lost, which leaves gaps.
package final class KeyBlocks: Sendable {
    private struct Block {
        var numbers: Range<Int64> = 0..<0
        /// How many numbers the next block has: twice as many each time, since who has inserted much goes on.
        var next = KeyBlocks.smallest
    }
    /// By root entity, as far as they were asked for.
    private let blocks = Mutex<[Block]>([])

    static var smallest: Int { 64 }
    static var largest: Int { 1024 }

    package init() {}

    /// - Parameter write: gives the session that writes. Whoever needs a block waits for it, as for a save.
    package func allocate(
        _ count: Int, of root: Entity, _ texts: WriteCompiler,
        write: ((any SQLSession) throws -> Range<Int64>) throws -> Range<Int64>
    ) throws -> Range<Int64> {
        if let numbers = kept(count, of: root.index) { return numbers }
        return try write { session in
            // Whoever wrote before may have brought a block.
            if let numbers = kept(count, of: root.index) { return numbers }
            let wanted = max(count, nextSize(of: root.index))
            var numbers: Range<Int64> = 0..<0
            try session.transaction {
                numbers = try Self.reserve(wanted, of: root, session, texts)
                return true
            }
            return add(numbers, of: root.index, taking: count)
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

    /// Takes so many numbers from the database, in a transaction that is open.
    package static func reserve(
        _ count: Int, of root: Entity, _ session: any SQLSession, _ texts: WriteCompiler
    ) throws -> Range<Int64> {
        let values: [Value] = [.int(Int64(count)), .int(Int64(root.index.number))]
        guard let last = try session.numbers(.allocate(root.index), each: 1, values, texts).first else {
            throw StoreError(
                134180,
                "The store at \(session.path) has no row for \(root.name) in Z_PRIMARYKEY, so new rows cannot be numbered. "
                    + "Restore the store from a copy.", path: session.path, entity: root.name)
        }
        let end = last ?? 0
        guard end >= count, end < .max else { throw StoreError.noNumbers(root.name, in: session.path) }
        return (end - Int64(count) + 1)..<(end + 1)
    }
}

extension StoreError {
    /// The file says that numbers were given which there are not.
    static func noNumbers(_ entity: String, in path: String) -> StoreError {
        StoreError(
            134180,
            "The store at \(path) says in Z_PRIMARYKEY that \(entity) has had all numbers of 64 bits, or more, so new rows cannot be "
                + "numbered. Restore the store from a copy.", path: path, entity: entity)
    }
}
