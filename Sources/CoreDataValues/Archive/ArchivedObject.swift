// One object of a keyed archive, asked by key.

import Foundation

/// An object, or a plain value, at a place of an archive. What it is not, it answers nil or nothing for.
///
/// Objects may hold each other in circles: whoever goes from one to the next sees to it that he ends.
package struct ArchivedObject: Sendable {
    private let archive: ArchivedObjects
    package let place: Int

    /// The object that was archived under a name; nil if there is none.
    package init?(_ archive: ArchivedObjects, top name: String = "root") {
        guard let place = archive.top(name), place > 0 else { return nil }
        self.init(archive, place)
    }

    private init(_ archive: ArchivedObjects, _ place: Int) {
        self.archive = archive
        self.place = place
    }

    package var className: String? { (try? archive.className(place)) ?? nil }

    private var item: PropertyListItem { archive[place] }

    private func object(_ item: PropertyListItem?) -> ArchivedObject? {
        guard let place = item?.reference, place > 0, place < archive.count else { return nil }
        return ArchivedObject(archive, place)
    }

    // MARK: Fields

    /// The object that a field refers to.
    package subscript(_ key: String) -> ArchivedObject? { object(item[key]) }

    /// A field in place, or the plain value that it refers to.
    private func field(_ key: String) -> PropertyListItem? {
        guard let field = item[key] else { return nil }
        guard field.reference != nil else { return field }
        return self[key]?.item
    }

    package func text(_ key: String) -> String? { self[key]?.text ?? item[key]?.text }
    package func integer(_ key: String) -> Int64? { field(key)?.integer }
    package func bool(_ key: String) -> Bool? { field(key).flatMap { $0.bool ?? $0.integer.map { $0 != 0 } } }

    // MARK: Values

    package var text: String? {
        if let text = item.text { return text }
        guard className == "NSMutableString" || className == "NSString" else { return nil }
        return item["NS.string"]?.text ?? self["NS.string"]?.item.text
    }

    /// A value that an attribute can have; nil for another object.
    package var value: Value? {
        if let flag = item.bool { return .bool(flag) }
        if let number = item.integer { return .int(number) }
        if let text { return .text(text) }
        if let data = item.data { return .data(data) }
        if item.entries == nil { return item.real.map { .double($0) } }
        switch className {
        case "NSDate": return item["NS.time"]?.real.map { .date($0) }
        case "NSUUID":
            guard let bytes = item["NS.uuidbytes"]?.data, bytes.count == 16 else { return nil }
            return .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        case "NSURL": return text("NS.relative").map { .uri($0) }
        case "NSData", "NSMutableData": return (item["NS.data"]?.data ?? self["NS.data"]?.item.data).map { .data($0) }
        case "NSDecimalNumberPlaceholder", "NSDecimalNumber": return DecimalArchive.number(item).map { .decimal($0) }
        default: return nil
        }
    }

    /// The members of an array or a set.
    package var members: [ArchivedObject] { objects(item["NS.objects"]) }

    /// The keys and values of a dictionary, also of one whose keys stand apart.
    package var entries: [(key: String, value: ArchivedObject)] {
        var keys = objects(item["NS.keys"])
        var values = members
        if className?.hasPrefix("NSKnownKeysDictionary") == true {
            keys = self["searchMapping"]?["keys"]?.members ?? []
            values = self["values"]?.members ?? []
        }
        guard keys.count == values.count else { return [] }
        return zip(keys, values).compactMap { key, value in key.text.map { ($0, value) } }
    }

    private func objects(_ item: PropertyListItem?) -> [ArchivedObject] { item?.array?.compactMap(object) ?? [] }
}
