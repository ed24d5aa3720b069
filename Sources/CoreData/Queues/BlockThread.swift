// A thread for blocks that tasks await.

import Foundation

/// A thread that runs blocks one after the other, and ends when none has come for a while. It keeps no block that has
/// run, since that would keep the context that the block has made.
final class BlockThread: @unchecked Sendable {
    private static let patience: TimeInterval = 5
    private let condition = NSCondition()
    /// Protected by the condition.
    private var coming: AwaitedBlock?

    static func start(_ first: AwaitedBlock, _ blocks: ActiveBlocks) {
        let state = BlockThread()
        state.coming = first
        Thread {
            // Foundation on Linux ignores a name that is set before the thread runs.
            Thread.current.name = blocks.threadName
            state.run(blocks)
        }.start()
    }

    func wake(_ block: AwaitedBlock) {
        condition.withLock {
            coming = block
            condition.signal()
        }
    }

    private func run(_ blocks: ActiveBlocks) {
        while runNext(blocks) {}
    }

    /// Waits for a block, then runs it and those that follow at once; false when none has come.
    private func runNext(_ blocks: ActiveBlocks) -> Bool {
        var next = wait(blocks)
        guard next != nil else { return false }
        while let block = next.take() {
            block.end(block.call.isOver ? .isCancelled : .admitted)
            next = blocks.next(after: block, for: self)
        }
        return true
    }

    private func wait(_ blocks: ActiveBlocks) -> AwaitedBlock? {
        condition.lock()
        defer { condition.unlock() }
        var deadline = Date(timeIntervalSinceNow: BlockThread.patience)
        while coming == nil {
            if condition.wait(until: deadline) { continue }
            if coming == nil, blocks.retire(self) { return nil }
            deadline = Date(timeIntervalSinceNow: BlockThread.patience)
        }
        return coming.take()
    }
}
