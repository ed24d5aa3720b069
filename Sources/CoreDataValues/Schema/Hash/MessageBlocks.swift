// What SHA-256 and SHA-512 have in common.

/// Messages cut into blocks of 16 words, each with its highest byte first.
enum MessageBlocks {
    /// - Parameters:
    ///   - start: the eight words before the first block.
    ///   - constants: one for each round, and so for each word of a block's schedule.
    ///   - mix: takes a block into the words; the schedule's first 16 words are the block, the others are still to be made.
    @inline(__always)
    static func hash<Word: FixedWidthInteger>(
        _ message: [UInt8], from start: [Word], _ constants: [Word],
        _ mix: (UnsafeMutableBufferPointer<Word>, UnsafeMutableBufferPointer<Word>, UnsafeBufferPointer<Word>) -> Void
    ) -> [UInt8] {
        let size = MemoryLayout<Word>.size
        var state = start
        state.withUnsafeMutableBufferPointer { state in
            constants.withUnsafeBufferPointer { constants in
                pad(message, to: 16 * size).withUnsafeBytes { bytes in
                    withUnsafeTemporaryAllocation(of: Word.self, capacity: constants.count) { schedule in
                        for block in stride(from: 0, to: bytes.count, by: 16 * size) {
                            load(bytes, at: block, into: schedule)
                            mix(state, schedule, constants)
                        }
                    }
                }
            }
        }
        return [UInt8](unsafeUninitializedCapacity: state.count * size) { bytes, count in
            let target = UnsafeMutableRawBufferPointer(bytes)
            for (index, word) in state.enumerated() {
                target.storeBytes(of: word.bigEndian, toByteOffset: index * size, as: Word.self)
            }
            count = state.count * size
        }
    }

    @inline(__always)
    private static func load<Word: FixedWidthInteger>(
        _ bytes: UnsafeRawBufferPointer, at block: Int, into schedule: UnsafeMutableBufferPointer<Word>
    ) {
        for index in 0..<16 {
            let place = block + index * MemoryLayout<Word>.size
            schedule[index] = Word(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: Word.self))
        }
    }

    /// The message, a one bit, zeros, and the length in bits in two words, up to a whole block.
    private static func pad(_ message: [UInt8], to block: Int) -> [UInt8] {
        let length = (message.count + 1 + block / 8 + block - 1) / block * block
        return [UInt8](unsafeUninitializedCapacity: length) { bytes, count in
            _ = bytes.initialize(fromContentsOf: message)
            bytes[message.count] = 0x80
            bytes[(message.count + 1)...].initialize(repeating: 0)
            UnsafeMutableRawBufferPointer(bytes).storeBytes(
                of: (UInt64(message.count) &* 8).bigEndian, toByteOffset: length - 8, as: UInt64.self)
            count = length
        }
    }
}
