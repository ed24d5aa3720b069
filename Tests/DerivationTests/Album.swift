// A store whose values may lie in files, and what a test sees of them.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// A store whose photos may lie in files.
struct Album {
    let folder = Folder()
    var url: URL { folder.file("Album.v2.sqlite") }
    var files: URL { folder.file(".Album.v2_SUPPORT/_EXTERNAL_DATA") }

    static func model() -> NSManagedObjectModel {
        var photo = EntityDraft(name: "Photo")
        photo.attributes = [Clinic.attribute("name", .string), Clinic.attribute("data", .binary, external: true)]
        photo.uniquenessConstraints = [["name"]]
        let print = EntityDraft("Print", [Clinic.attribute("negative", .binary, external: true)], parent: "Photo")
        return NSManagedObjectModel(photo, print)
    }

    func open(readOnly: Bool = false) throws -> NSManagedObjectContext {
        try NSPersistentStoreCoordinator(
            Self.model(), at: url, options: readOnly ? [NSReadOnlyPersistentStoreOption: true] : nil
        ).context()
    }

    /// A context, and a child of it, neither of which has read the one photo, whose large value lies in a file.
    func stored() throws -> (parent: NSManagedObjectContext, child: NSManagedObjectContext) {
        let context = try open()
        _ = context.make("Photo", ["name": "a", "data": Self.large])
        try context.save()
        context.reset()
        return (context, context.child())
    }

    /// Another stack saves other values, each of which a photo that was read before reads then.
    func replace(seenBy photo: NSManagedObject) throws {
        let other = try open()
        let rival = try #require(try other.all("Photo").first)
        for value in [Self.bytes(220_000, 1), Data([9])] {
            rival.setValue(value, forKey: "data")
            try other.save()
            #expect(photo.value(forKey: "data") as? Data == value)
        }
    }

    /// What another stack reads of the first photo.
    func firstValue() throws -> Data? {
        let context = try open()
        return try context.all("Photo").first?.value(forKey: "data") as? Data
    }

    func names() -> [String] { ((try? FileManager.default.contentsOfDirectory(atPath: files.path)) ?? []).sorted() }

    func pending() -> [String] {
        let support = files.deletingLastPathComponent().path
        return ((try? FileManager.default.contentsOfDirectory(atPath: support)) ?? []).filter {
            $0.hasSuffix(".pending")
        }
    }

    func column(_ name: String = "ZDATA") throws -> [String] {
        try SQLiteFile(url).rows("SELECT hex(\(name)) FROM ZPHOTO WHERE \(name) IS NOT NULL ORDER BY Z_PK")
    }

    /// The name in the only column that refers to a file, read without our code.
    func referred() throws -> [String] {
        try SQLiteFile(url).rows(
            "SELECT CAST(substr(ZDATA, 2, 36) AS TEXT) FROM ZPHOTO WHERE length(ZDATA) = 38 AND hex(substr(ZDATA, 1, 1)) = '02'"
        ).sorted()
    }

    static func bytes(_ count: Int, _ seed: UInt8 = 3) -> Data {
        var data = Data(repeating: seed, count: count)
        for index in stride(from: 0, to: count, by: 1009) { data[index] = UInt8(truncatingIfNeeded: index) }
        return data
    }
    static let large = bytes(300_000)
}
