// `@NSManaged` in Swift sources, where the compiler takes it and the linker does not.

/// Where a source file has the attribute `@NSManaged` in code that is compiled here.
package enum ManagedAttributes {
    /// One of them. Line and column begin at 1; the column counts bytes, as the compiler's does.
    package struct Finding: Sendable, Equatable, CustomStringConvertible {
        package let path: String
        package let line: Int
        package let column: Int

        package init(path: String, line: Int, column: Int) {
            self.path = path
            self.line = line
            self.column = column
        }

        /// As compilers say it.
        package var description: String {
            "\(path):\(line):\(column): error: @NSManaged compiles on Linux and does not link. Delete the declaration and let the build "
                + "make it (Codegen: Category/Extension), or give it a get and a set: Documentation/Guides/NSManaged.md"
        }
    }

    /// The attributes in a text, in their order. What stands in comments, in string literals and between `#if` and `#endif` does not
    /// count: a condition may be false here.
    package static func findings(in text: String, path: String) -> [Finding] {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.contains(UInt8(ascii: "@")) else { return [] }
            var scan = Scan(bytes: bytes, path: path)
            return scan.run()
        }
    }

    /// One walk through a text.
    private struct Scan {
        let bytes: UnsafeBufferPointer<UInt8>
        let path: String
        var place = 0
        var line = 1
        var lineStart = 0
        var conditions = 0
        var findings: [Finding] = []

        init(bytes: UnsafeBufferPointer<UInt8>, path: String) {
            self.bytes = bytes
            self.path = path
        }

        mutating func run() -> [Finding] {
            while place < bytes.count {
                switch bytes[place] {
                case UInt8(ascii: "/") where begins("//"): skipLine()
                case UInt8(ascii: "/") where begins("/*"): skipComment()
                case UInt8(ascii: "\""): skipString(pounds: 0)
                case UInt8(ascii: "#"): pound()
                case UInt8(ascii: "@") where isWord("@NSManaged"):
                    if conditions == 0 {
                        findings.append(Finding(path: path, line: line, column: place - lineStart + 1))
                    }
                    place += 1
                default: advance()
                }
            }
            return findings
        }

        private func begins(_ word: StaticString) -> Bool {
            let word = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
            return bytes.count - place >= word.count && bytes[place..<place + word.count].elementsEqual(word)
        }

        private func isWord(_ word: StaticString) -> Bool {
            let end = place + word.utf8CodeUnitCount
            guard begins(word) else { return false }
            guard end < bytes.count else { return true }
            switch bytes[end] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"), 0x80...0xff:
                return false
            default: return true
            }
        }

        private mutating func advance() {
            if bytes[place] == UInt8(ascii: "\n") {
                line += 1
                lineStart = place + 1
            }
            place += 1
        }

        private mutating func advance(_ count: Int) {
            for _ in 0..<count where place < bytes.count { advance() }
        }

        private mutating func skipLine() {
            while place < bytes.count, bytes[place] != UInt8(ascii: "\n") { place += 1 }
        }

        /// Comments lie in comments.
        private mutating func skipComment() {
            var depth = 0
            repeat {
                if begins("/*") {
                    depth += 1
                    advance(2)
                } else if begins("*/") {
                    depth -= 1
                    advance(2)
                } else {
                    advance()
                }
            } while depth > 0 && place < bytes.count
        }

        /// A condition, or a string literal with `#` before its quotation mark.
        private mutating func pound() {
            if isWord("#if") { conditions += 1 }
            if isWord("#endif") { conditions = max(0, conditions - 1) }
            var pounds = 0
            while place < bytes.count, bytes[place] == UInt8(ascii: "#") {
                pounds += 1
                place += 1
            }
            if place < bytes.count, bytes[place] == UInt8(ascii: "\"") { skipString(pounds: pounds) }
        }

        private mutating func skipString(pounds: Int) {
            let isLong = begins("\"\"\"")
            advance(isLong ? 3 : 1)
            while place < bytes.count {
                switch bytes[place] {
                case UInt8(ascii: "\n") where !isLong: return
                case UInt8(ascii: "\\") where areNext(pounds, 1): escape(pounds)
                case UInt8(ascii: "\"") where (!isLong || begins("\"\"\"")) && areNext(pounds, isLong ? 3 : 1):
                    advance((isLong ? 3 : 1) + pounds)
                    return
                default: advance()
                }
            }
        }

        /// A character after a backslash, or an expression with literals of its own.
        private mutating func escape(_ pounds: Int) {
            advance(1 + pounds)
            guard place < bytes.count, bytes[place] == UInt8(ascii: "(") else { return advance(1) }
            var depth = 0
            repeat {
                switch bytes[place] {
                case UInt8(ascii: "\""): skipString(pounds: 0)
                case UInt8(ascii: "("):
                    depth += 1
                    advance()
                case UInt8(ascii: ")"):
                    depth -= 1
                    advance()
                default: advance()
                }
            } while depth > 0 && place < bytes.count
        }

        /// Whether so many `#` stand so far behind.
        private func areNext(_ pounds: Int, _ distance: Int) -> Bool {
            let start = place + distance
            return bytes.count - start >= pounds && bytes[start..<start + pounds].allSatisfy { $0 == UInt8(ascii: "#") }
        }
    }
}
