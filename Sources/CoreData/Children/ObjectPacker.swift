// Packs objects as the rows that a child reads.

import CoreDataValues
import Foundation

/// Packs objects as the rows that a child reads, in the order in which they are added.
struct ObjectPacker {
    private(set) var batches: [RowBatch] = []
    private var chunks: [RowChunk] = []
    private var order: [RowBatch.Reference] = []
    /// The open chunks by shape: entity, and whether objects are saved, as a chunk's first number tells for all of its
    /// rows.
    private var open: [Int: Int] = [:]

    /// Adds an object unless it is deleted or its row is gone. Returns whether it was added.
    @discardableResult
    mutating func add(_ object: NSManagedObject, in context: NSManagedObjectContext) throws -> Bool {
        let state = object._state
        if state.isFault, state.pointee.row == nil { object.fire() }
        guard !state.has([.deleted, .gone]) else { return false }
        if state.isFault, state.pointee.row == nil {
            try context.faulting.throwReadError()
            return false
        }
        let shape = Int(state.pointee.entity) << 1 | (state.pointee.number < 0 ? 1 : 0)
        let place = openChunk(shape, state.info.layout)
        order.append(RowBatch.Reference(chunk: place, row: chunks[place].count))
        // The child's changes are based on what this object's changes are based on.
        object.pack(into: chunks[place], key: state.pointee.number, version: object.comparedVersion)
        object.packTransients(into: chunks[place])
        if order.count == RowChunk.maximumCount { close() }
        return true
    }

    private mutating func openChunk(_ shape: Int, _ layout: RowLayout) -> Int {
        if let place = open[shape], !chunks[place].isFull { return place }
        let capacity = open[shape] == nil ? 16 : RowChunk.maximumCount
        chunks.append(RowChunk(layout: layout, capacity: capacity, arenaCapacity: 512))
        open[shape] = chunks.count - 1
        return chunks.count - 1
    }

    private mutating func close() {
        guard let first = chunks.first else { return }
        batches.append(RowBatch(first: first, others: Array(chunks.dropFirst()), order: order))
        chunks = []
        order = []
        open = [:]
    }

    mutating func finish() -> [RowBatch] {
        close()
        return batches
    }
}
