// What every store must do: derived attributes, and values that may lie in files.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct StoreSpecificationDerivedTests {
    static let draft: SchemaDraft = {
        func attribute(_ name: String, _ type: AttributeType, _ expression: String? = nil) -> Attribute {
            var attribute = Attribute(name: name, type: type)
            attribute.isOptional = true
            attribute.derivationExpression = expression
            return attribute
        }
        var album = EntityDraft(name: "Album")
        album.attributes = [
            attribute("title", .string), attribute("key", .string, "canonical:(title)"),
            attribute("songCount", .integer32, "songs.@count"), attribute("length", .double, "songs.@sum.length"),
            attribute("changed", .date, "now()"),
        ]
        var songs = Relationship(name: "songs", destinationName: "Song")
        (songs.maxCount, songs.inverseName, songs.isOptional) = (0, "album", true)
        album.relationships = [songs]
        var song = EntityDraft(name: "Song")
        song.attributes = [
            attribute("length", .double), attribute("albumTitle", .string, "album.title"), attribute("sound", .binary),
        ]
        song.attributes[2].allowsExternalBinaryDataStorage = true
        var owner = Relationship(name: "album", destinationName: "Album")
        (owner.inverseName, owner.isOptional) = ("songs", true)
        song.relationships = [owner]
        return SchemaDraft(album, song)
    }()

    private func value(_ subject: Subject, _ key: RowKey, _ name: String) throws -> Value? {
        try subject.row(key)?.values[name]
    }

    @Test(
        "Derived values follow insertions, updates and deletions, whatever the batch says of them",
        arguments: StoreMaker.all(for: .derivation))
    func derive(_ maker: StoreMaker) throws {
        let subject = try Subject(maker, draft: Self.draft)
        let album = try subject.insert("Album", [["title": .text("ÉTÉ"), "key": .text("?"), "songCount": .int(9)]])[0]
        #expect(try value(subject, album, "key") == .text("ete"))
        #expect(try value(subject, album, "songCount") == .int(0))
        let songs = try subject.insert(
            "Song",
            [["length": .double(2.5), "album": target(album)], ["length": .double(4), "album": target(album)]])
        #expect(try value(subject, album, "songCount") == .int(2))
        #expect(try value(subject, album, "length") == .double(6.5))
        #expect(try value(subject, songs[0], "albumTitle") == .text("ÉTÉ"))
        guard case .date(let before)? = try value(subject, album, "changed") else { throw Missing() }
        var batch = ChangeBatch()
        batch.updates = [
            try subject.update(album, ["title": .text("B")], expected: 1),
            try subject.update(songs[0], ["length": .double(1)], expected: 1),
        ]
        batch.deletes = [DeleteGroup(entity: songs[1].entity, numbers: [songs[1].number], expected: [1])]
        guard case .committed(let touched, _) = try subject.store.commit(batch) else { throw Missing() }
        #expect(Set(touched) == [album, songs[0]])
        #expect(try value(subject, album, "key") == .text("b"))
        #expect(try value(subject, album, "songCount") == .int(1))
        #expect(try value(subject, album, "length") == .double(1))
        #expect(try value(subject, songs[0], "albumTitle") == .text("B"))
        guard case .date(let after)? = try value(subject, album, "changed") else { throw Missing() }
        #expect(after > before)
        #expect(try subject.row(album)?.version == 2, "a derivation is no change of its own")
    }

    private struct Missing: Error {}

    @Test("A refused batch derives nothing and touches nothing", arguments: StoreMaker.all)
    func refused(_ maker: StoreMaker) throws {
        let subject = try Subject(maker, draft: Self.draft)
        let album = try subject.insert("Album", [["title": .text("A")]])[0]
        try subject.insert("Song", [["length": .double(1), "album": target(album)]])
        let before = try subject.row(album)
        let song = try subject.keys("Song", 1)[0]
        var batch = ChangeBatch()
        batch.inserts = [try subject.chunk([(song, ["length": .double(1), "album": target(album)])])]
        batch.updates = [try subject.update(album, ["title": .text("B")], expected: 7)]
        #expect(try !subject.conflicts(batch).isEmpty)
        #expect(try subject.row(album) == before)
    }

    @Test(
        "A large value behind the tag of the row is there again, in the cell or by the name in it",
        arguments: StoreMaker.all)
    func external(_ maker: StoreMaker) throws {
        let subject = try Subject(maker, draft: Self.draft)
        for size in [0, 102_400, 102_401, 1_048_576] {
            let sound = Data(repeating: UInt8(size & 255), count: size)
            let key = try subject.insert(
                "Song",
                [["length": .double(Double(size)), "sound": .data(Data([ExternalReference.inlineTag]) + sound)]])[0]
            guard case .data(let cell)? = try value(subject, key, "sound") else { throw Missing() }
            if let name = cell.withUnsafeBytes(ExternalReference.name) {
                #expect(try subject.store.externalData(named: name) == sound)
            } else {
                #expect(cell.dropFirst() == sound)
            }
        }
        #expect(throws: StoreError.self) { try subject.store.externalData(named: UUID().uuidString) }
    }
}
