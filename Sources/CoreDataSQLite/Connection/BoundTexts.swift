// Texts that are bound to a statement.

import Foundation

/// Memory of a statement for its short texts, so that SQLite need not copy each into memory of its own (250 instructions). What does not
/// fit SQLite copies. What is bound stays until the bindings are cleared.
struct BoundTexts {
    private static let capacity = 256
    private var memory: UnsafeMutablePointer<CChar>?
    var used = 0

    /// Copies a text; nil where there is no room.
    @inline(__always)
    mutating func keep(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar>? {
        guard bytes.count <= BoundTexts.capacity - used else { return nil }
        let start = (memory ?? makeMemory()) + used
        if let base = bytes.baseAddress { memcpy(start, base, bytes.count) }
        used &+= bytes.count
        return UnsafePointer(start)
    }

    @inline(never)
    private mutating func makeMemory() -> UnsafeMutablePointer<CChar> {
        let made = UnsafeMutablePointer<CChar>.allocate(capacity: BoundTexts.capacity)
        memory = made
        return made
    }

    func drop() { memory?.deallocate() }
}
