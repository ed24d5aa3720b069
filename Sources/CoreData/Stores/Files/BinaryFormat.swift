// The binary store's file: length-prefixed records and a checksum.

import CoreDataValues
import Foundation

/// See `Documentation/StoreFormat.md`. All numbers are little-endian.
enum BinaryFormat: StoreFormat {
    private static let magic = Data("OpenCoreData binary 1\n".utf8)
    private static let checksumSize = 8

    static func encode(_ document: StoredDocument) throws -> Data {
        var out = ByteWriter()
        out.bytes(magic)
        out.metadata(document.metadata)
        out.number(document.next.count)
        for (entity, number) in document.next {
            out.text(entity)
            out.number(number)
        }
        out.number(document.objects.count)
        for object in document.objects { out.object(object) }
        out.number(document.pairs.count)
        for pair in document.pairs { out.pair(pair) }
        out.number(checksum(out.data))
        return out.data
    }

    /// FNV-1a over words of eight bytes, then over the rest byte by byte.
    private static func checksum(_ data: Data) -> UInt64 {
        data.withUnsafeBytes { bytes in
            var sum: UInt64 = 0xcbf2_9ce4_8422_2325
            var place = 0
            while place + 8 <= bytes.count {
                sum =
                    (sum ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
                    &* 0x100_0000_01b3
                place += 8
            }
            while place < bytes.count {
                sum = (sum ^ UInt64(bytes[place])) &* 0x100_0000_01b3
                place += 1
            }
            return sum
        }
    }

    static func decode(_ data: Data, path: String) throws -> StoredDocument {
        guard data.count > magic.count + checksumSize, data.starts(with: magic) else {
            throw damaged(path, "it does not begin as one")
        }
        let content = data.prefix(data.count - checksumSize)
        var end = ByteReader(Data(data.suffix(checksumSize)))
        guard UInt64(bitPattern: try end.number()) == checksum(Data(content)) else {
            throw damaged(path, "its content does not have the checksum that was written with it")
        }
        var reader = ByteReader(Data(content.dropFirst(magic.count)))
        do throws(ByteReader.End) {
            var document = StoredDocument(metadata: try reader.metadata())
            for _ in 0..<(try reader.count()) { document.next.append((try reader.text(), try reader.number())) }
            for _ in 0..<(try reader.count()) { document.objects.append(try reader.object()) }
            for _ in 0..<(try reader.count()) { document.pairs.append(try reader.pair()) }
            return document
        } catch {
            throw damaged(path, "a record ends too early")
        }
    }
}
