// Rows that are given as values, as chunks.

/// Packs rows, those of one entity into the same chunks, which are opened as they are needed.
struct ValuePacker {
    /// The chunks in the order in which they were opened.
    private(set) var chunks: [RowChunk] = []
    /// The place of the chunk that took the last row: most rows of an entity come one after the other.
    private var last = 0
    /// The place of each entity's last chunk.
    private var places: [EntityIndex: Int] = [:]
    private let schema: Schema
    private let room: Int

    /// - Parameter room: how many rows are expected: no chunk has room for more.
    init(_ schema: Schema, room: Int) {
        self.schema = schema
        self.room = min(room, RowChunk.maximumCount)
    }

    /// Packs the next row of an entity.
    ///
    /// - Parameter values: one for each slot; nil for a row of which only the key and the version count.
    /// - Returns: the place of the chunk whose last row it is.
    /// - Throws: `StoreError` when a value does not fit its slot.
    mutating func append(_ key: RowKey, version: Int32, values: [Value]?) throws(StoreError) -> Int {
        if chunks.isEmpty || chunks[last].layout.entity != key.entity || chunks[last].isFull { open(key.entity) }
        if let values {
            try chunks[last].append(key: key.number, version: version, values: values)
        } else {
            _ = chunks[last].appendRow(key: key.number, version: version, entity: key.entity)
        }
        return last
    }

    /// Goes to the last chunk of an entity, or to a new one if there is none or it is full.
    private mutating func open(_ entity: EntityIndex) {
        if let place = places[entity], !chunks[place].isFull {
            last = place
            return
        }
        last = chunks.count
        places[entity] = last
        chunks.append(RowChunk(layout: schema[entity].layout, capacity: room))
    }
}
