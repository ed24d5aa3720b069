// Rows that are in a save only because members came or went.

/// Rows of one entity whose version rises by one, from whatever it is (NULL counts as 0). They are not compared: several writers
/// may add members to one owner at once.
package struct TouchGroup: Sendable {
    package let entity: EntityIndex
    /// The rows as they are afterwards if nobody has changed them since they were read, with the version that they have then.
    package let chunk: RowChunk
    /// The versions that were read, -1 for NULL.
    package let read: [Int32]
    /// By row: whether a pair is added, so that a row that is gone is a conflict. One that pairs only leave may be gone.
    package let gains: [Bool]

    package init(entity: EntityIndex, chunk: RowChunk, read: [Int32], gains: [Bool]) {
        self.entity = entity
        self.chunk = chunk
        self.read = read
        self.gains = gains
    }

    /// The keys in the order of the rows.
    package var keys: [RowKey] {
        (0..<chunk.count).map { RowKey(entity: entity, number: chunk.row($0).key(chunk.layout)) }
    }

    /// The version that follows one, -1 for NULL.
    package static func version(after version: Int32) -> Int32 { max(version, 0) &+ 1 }
}
