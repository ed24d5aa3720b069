// What binary property lists are written of, read again.

import CoreDataValues
import Foundation
import Testing

@Suite("Written property lists")
struct PropertyListWritingTests {
    @Test("Equal data are written once, as Foundation does, and are read wherever they stand")
    func equalData() throws {
        let data = Data(repeating: 7, count: 1000)
        let names = (0..<20).map { "key\($0)" }
        let written = BinaryPropertyListWriter.data(
            .dictionary(Dictionary(uniqueKeysWithValues: names.map { ($0, .data(data)) })))
        #expect(written.count < 2 * data.count)
        let read = try PropertyListSerialization.propertyList(from: written, format: nil) as? [String: Data]
        #expect(read == Dictionary(uniqueKeysWithValues: names.map { ($0, data) }))
    }
}
