// Numbers for new rows, taken from the file by the block.

import CoreDataValues
import Foundation

/// Blocks of row numbers kept in memory. A block is taken in a transaction of its own, so two processes never
/// share a number; what is left when the store closes is lost, which leaves gaps.
final class KeyBlocks: @unchecked Sendable {
    /// A line, because who takes a block from the file waits for the writer.
    private let line = WaitingLine()
    private var blocks: [EntityIndex: Range<Int64>] = [:]

    static var smallest: Int { 64 }

    /// - Parameter reserve: takes at least so many numbers from the file.
    func take(_ count: Int, of root: EntityIndex, reserve: (Int) throws -> Range<Int64>) throws -> Range<
        Int64
    > {
        try line.withTurn {
            var block = blocks[root] ?? 0..<0
            if block.count < count {
                let fresh = try reserve(max(count, Self.smallest))
                block = fresh.lowerBound == block.upperBound ? block.lowerBound..<fresh.upperBound : fresh
            }
            let end = block.lowerBound + Int64(count)
            blocks[root] = end..<block.upperBound
            return block.lowerBound..<end
        }
    }
}
