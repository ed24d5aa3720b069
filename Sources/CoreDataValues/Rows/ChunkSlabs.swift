// Memory of the chunks of small results.

import Foundation
import Synchronization

/// Blocks of one size, cut out of slabs of seven and more. A slab goes when its last block does, but for one. For any thread.
///
/// A fetch of twenty rows asks for a few thousand bytes. To `malloc` that is a large request: it first joins all small pieces that
/// were freed, so that each of the objects that are made next is cut out anew (10,000 instructions for a fetch of twenty objects).
final class ChunkSlabs: Sendable {
    private static let small = ChunkSlabs(blockSize: 4096)
    private static let large = ChunkSlabs(blockSize: 8192)

    let blockSize: Int
    private let blockCount: Int
    /// The first of the slabs that have free blocks.
    private let open = Mutex<UInt>(0)

    private init(blockSize: Int) {
        self.blockSize = blockSize
        blockCount = 65_536 / blockSize - 1
    }

    /// Blocks for a number of bytes that takes at least half of each; nil when there are none.
    @inline(__always)
    static func fitting(_ byteCount: Int) -> ChunkSlabs? {
        guard byteCount > 2048, byteCount <= 8192 else { return nil }
        return byteCount <= 4096 ? small : large
    }

    /// The head of a slab; its blocks lie behind it.
    struct Slab {
        fileprivate var used = 0
        /// How many blocks were handed out at least once: the rest of the memory is untouched.
        fileprivate var begun = 0
        /// Blocks that were given back, each holding the address of the next one.
        fileprivate var free: UnsafeMutableRawPointer?
        fileprivate var next: UnsafeMutablePointer<Slab>?
        fileprivate var previous: UnsafeMutablePointer<Slab>?
    }
    private static let headSize = 64

    func allocate() -> (block: UnsafeMutableRawPointer, slab: UnsafeMutablePointer<Slab>) {
        open.withLock { first in
            let slab = UnsafeMutablePointer<Slab>(bitPattern: first) ?? add(&first)
            slab.pointee.used += 1
            let block: UnsafeMutableRawPointer
            if let free = slab.pointee.free {
                block = free
                slab.pointee.free = free.load(as: UnsafeMutableRawPointer?.self)
            } else {
                block = UnsafeMutableRawPointer(slab) + ChunkSlabs.headSize + slab.pointee.begun * blockSize
                slab.pointee.begun += 1
            }
            if slab.pointee.used == blockCount { unlink(slab, &first) }
            return (block, slab)
        }
    }

    func release(_ block: UnsafeMutableRawPointer, _ slab: UnsafeMutablePointer<Slab>) {
        open.withLock { first in
            block.storeBytes(of: slab.pointee.free, as: UnsafeMutableRawPointer?.self)
            slab.pointee.free = block
            if slab.pointee.used == blockCount { link(slab, &first) }
            slab.pointee.used -= 1
            guard slab.pointee.used == 0, slab.pointee.next != nil || slab.pointee.previous != nil else { return }
            unlink(slab, &first)
            free(slab)
        }
    }

    private func add(_ first: inout UInt) -> UnsafeMutablePointer<Slab> {
        let memory = RowChunk.memory(ChunkSlabs.headSize + blockCount * blockSize)
        let slab = memory.bindMemory(to: Slab.self, capacity: 1)
        slab.initialize(to: Slab())
        link(slab, &first)
        return slab
    }

    private func link(_ slab: UnsafeMutablePointer<Slab>, _ first: inout UInt) {
        let former = UnsafeMutablePointer<Slab>(bitPattern: first)
        slab.pointee.next = former
        former?.pointee.previous = slab
        first = UInt(bitPattern: slab)
    }

    private func unlink(_ slab: UnsafeMutablePointer<Slab>, _ first: inout UInt) {
        let (next, previous) = (slab.pointee.next, slab.pointee.previous)
        if let previous { previous.pointee.next = next } else { first = UInt(bitPattern: next) }
        next?.pointee.previous = previous
        slab.pointee.next = nil
        slab.pointee.previous = nil
    }
}
