// Lists of whole numbers and texts as JSON arrays.

/// Writes bytes, since a list may have ten thousand members and more.
struct JSONText {
    private var bytes: [UInt8] = [UInt8(ascii: "[")]

    /// The array of what was added.
    var array: String { String(decoding: bytes + [UInt8(ascii: "]")], as: UTF8.self) }

    private mutating func separate() { if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) } }

    mutating func add(_ number: Int64) {
        separate()
        bytes.append(contentsOf: String(number).utf8)
    }

    /// False for a text with a NUL, which SQLite does not read back from JSON.
    mutating func add(_ text: String) -> Bool {
        separate()
        bytes.append(UInt8(ascii: "\""))
        var text = text
        let isWhole = text.withUTF8 { addEscaped($0) }
        bytes.append(UInt8(ascii: "\""))
        return isWhole
    }

    private mutating func addEscaped(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var start = 0
        for place in text.indices {
            let byte = text[place]
            if byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") { continue }
            if byte == 0 { return false }
            bytes.append(contentsOf: text[start..<place])
            start = place + 1
            if byte < 0x20 {
                let digits = String(byte, radix: 16)
                bytes.append(contentsOf: ("\\u00" + (digits.utf8.count < 2 ? "0" : "") + digits).utf8)
            } else {
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            }
        }
        bytes.append(contentsOf: text[start...])
        return true
    }
}
