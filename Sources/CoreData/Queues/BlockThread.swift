// A thread for blocks that tasks await.

import Foundation

/// A thread that runs blocks one after the other, and ends when none has come for a while. It keeps no block that has
/// run, since that would keep the context that the block has made.
final class BlockThread: @unchecked Sendable {
    private static let patience = DispatchTimeInterval.seconds(5)
    private let arrival = DispatchSemaphore(value: 0)
    /// Written before `arrival` is signalled, taken by the thread after its wait.
    private var coming: AwaitedBlock?

    static func start(_ first: AwaitedBlock, _ blocks: ActiveBlocks) {
        let state = BlockThread()
        state.wake(first)
        Thread {
            // Foundation on Linux ignores a name that is set before the thread runs.
            Thread.current.name = blocks.threadName
            while state.runNext(blocks) {}
        }.start()
    }

    /// Hands a block to a thread that has none; it was taken from the idle ones for it.
    func wake(_ block: AwaitedBlock) {
        coming = block
        arrival.signal()
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
        if arrival.wait(timeout: .now() + BlockThread.patience) == .timedOut {
            if blocks.retire(self) { return nil }
            // A block is on its way.
            arrival.wait()
        }
        return coming.take()
    }
}
