// How the rows of one entity lie in a chunk.

/// The shape of a row: a header, the words of the non-null mask, then one eight-byte cell a slot.
///
///     word                0      1                        2 …                2 + maskWords …
///     content             key    version | entity << 32   mask (last first)  cells
///
/// A row is named by the address of its first cell, so that a reader needs no other figure than the slot:
/// the mask word `k` lies at `row[-1 - k]`, the version word at `row[-1 - maskWords]`, the key before it.
@usableFromInline
package final class RowLayout: Sendable {
    package let entity: EntityIndex
    package let kinds: [SlotKind]
    @usableFromInline package let maskWords: Int
    /// Words before the first cell.
    @usableFromInline package let header: Int
    /// Words a row.
    @usableFromInline package let stride: Int

    package init(entity: EntityIndex, kinds: [SlotKind]) {
        self.entity = entity
        self.kinds = kinds
        maskWords = max(1, (kinds.count + 63) / 64)
        header = 2 + maskWords
        stride = header + kinds.count
    }

    package var slotCount: Int { kinds.count }
}
