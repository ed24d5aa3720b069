// Objects as the rows that a child reads.

import CoreDataValues

/// Packs objects as the rows that a child reads, in the order in which they are added.
struct ChildRows {
    /// A chunk's first number tells for all of its rows whether objects are saved.
    private struct Shape: Equatable {
        let entity: UInt16
        let isSaved: Bool
    }

    private var batches: [RowBatch] = []
    private var packer: ObjectPacker<Shape, Void>
    private var order: [RowBatch.Reference] = []
    /// How many objects are still to come at most.
    private var room: Int

    init(room: Int) {
        self.room = room
        packer = ObjectPacker(room: room)
    }

    /// Adds an object unless it is deleted or its row is gone. Returns whether it was added.
    @discardableResult
    mutating func add(_ object: NSManagedObject, in context: NSManagedObjectContext) throws -> Bool {
        let state = object._state
        if state.isFault, state.pointee.row == nil { object.fire() }
        guard !state.has([.deleted, .detached]) else { return false }
        if state.isFault, state.pointee.row == nil {
            try context.faulting.throwReadError()
            return false
        }
        let number = state.pointee.number
        // The child's changes are based on what this object's changes are based on.
        let chunk = packer.pack(
            object, as: Shape(entity: state.pointee.entity, isSaved: number >= 0), key: number,
            version: object.comparedVersion)
        object.packTransients(into: chunk)
        order.append(RowBatch.Reference(chunk: packer.place, row: chunk.count - 1))
        if order.count == RowChunk.maximumCount { close() }
        return true
    }

    private mutating func close() {
        let chunks = packer.packed.map(\.chunk)
        guard let first = chunks.first else { return }
        batches.append(RowBatch(first: first, others: Array(chunks.dropFirst()), order: order))
        room -= order.count
        packer = ObjectPacker(room: room)
        order = []
    }

    mutating func finish() -> [RowBatch] {
        close()
        return batches
    }
}
