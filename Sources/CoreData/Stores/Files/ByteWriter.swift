// Bytes as they are written.

import CoreDataValues
import Foundation

/// Bytes as they are written.
struct ByteWriter {
    private(set) var data = Data()

    mutating func bytes(_ bytes: Data) { data.append(bytes) }
    mutating func byte(_ byte: UInt8) { data.append(byte) }
    mutating func number(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: Int64(truncatingIfNeeded: number).littleEndian) { data.append(contentsOf: $0) }
    }
    mutating func block(_ block: Data) {
        number(block.count)
        data.append(block)
    }
    mutating func text(_ text: String) { block(Data(text.utf8)) }

    mutating func metadata(_ metadata: StoreMetadata) {
        text(metadata.uuid)
        text(metadata.type)
        number(metadata.modelVersionIdentifiers.count)
        for name in metadata.modelVersionIdentifiers { text(name) }
        number(metadata.versionHashes.count)
        for (name, hash) in metadata.versionHashes.sorted(by: { $0.key < $1.key }) {
            text(name)
            block(hash)
        }
        block(metadata.userInfo ?? Data())
    }

    mutating func object(_ object: StoredDocument.Object) {
        text(object.entity)
        number(object.number)
        number(object.version)
        number(object.values.count)
        for (name, content) in object.values {
            text(name)
            self.content(content)
        }
    }

    private mutating func content(_ content: StoredDocument.Content) {
        switch content {
        case .reference(let entity, let target):
            tag("r")
            text(entity)
            number(target)
        case .value(let value): self.value(value)
        }
    }

    private mutating func tag(_ letter: Unicode.Scalar) { byte(UInt8(truncatingIfNeeded: letter.value)) }

    private mutating func value(_ value: Value) {
        switch value {
        case .null, .key: tag("0")
        case .bool(let flag): tag(flag ? "T" : "F")
        case .int(let number):
            tag("i")
            self.number(number)
        case .double(let real):
            tag("d")
            number(Int64(bitPattern: real.bitPattern))
        case .date(let seconds):
            tag("t")
            number(Int64(bitPattern: seconds.bitPattern))
        case .decimal(let decimal):
            tag("n")
            text(decimal.description)
        case .text(let text):
            tag("s")
            self.text(text)
        case .uri(let text):
            tag("u")
            self.text(text)
        case .data(let data):
            tag("b")
            block(data)
        case .uuid(let uuid):
            tag("g")
            text(uuid.uuidString)
        }
    }

    mutating func pair(_ pair: StoredDocument.Pair) {
        text(pair.kind.rawValue)
        text(pair.entity)
        text(pair.relationship)
        number(pair.owner)
        number(pair.member)
        number(pair.place)
    }
}
