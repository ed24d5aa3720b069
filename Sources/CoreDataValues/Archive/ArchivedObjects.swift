// The objects of a keyed archive, as nodes.

import Foundation

/// A view of a property list that is a keyed archive. Objects are named by their place in the archive's list; at 0 stands what means nil.
package struct ArchivedObjects: Sendable {
    private let objects: PropertyListItems
    private let tops: PropertyListItem
    /// For each object, where the places that it refers to begin in `references`; its class is not among them.
    private var starts: [Int] = []
    private var references: [Int32] = []

    /// - Throws: for data that is no keyed archive, and for one that cannot be read (see `PropertyList`) or refers to objects that it lacks.
    package init(_ data: Data) throws(ArchiveError) {
        let list = try PropertyList(data, .document(bytes: data.count))
        guard let objects = list.top["$objects"]?.array, let tops = list.top["$top"], tops.entries != nil else {
            throw ArchiveError("It is no keyed archive.")
        }
        self.objects = objects
        self.tops = tops
        for object in objects {
            starts.append(references.count)
            try addReferences(of: object)
        }
        starts.append(references.count)
    }

    private mutating func addReferences(of object: PropertyListItem) throws(ArchiveError) {
        guard let entries = object.entries else { return try addReferences(in: object) }
        for (key, item) in zip(entries.keys, entries.values) where key.text != "$class" { try addReferences(in: item) }
    }

    /// A field holds a reference, or an array of them. Foundation makes objects of dictionaries that stand there too, without a look at
    /// their class; no archiver writes any.
    private mutating func addReferences(in field: PropertyListItem) throws(ArchiveError) {
        if let place = field.reference {
            guard place < count else { throw ArchiveError("It refers to an object that it lacks.") }
            references.append(Int32(place))
        } else if let array = field.array {
            for item in array { try addReferences(in: item) }
        } else if field.entries != nil {
            throw ArchiveError("It holds an object in the place of a reference.")
        }
    }

    /// An archive of objects, of which the one at a place is its root.
    package static func data(_ objects: [ArchiveNode], root: Int) -> Data {
        BinaryPropertyListWriter.data(
            .dictionary([
                "$archiver": .text("NSKeyedArchiver"), "$version": .integer(100_000),
                "$top": .dictionary(["root": .reference(root)]), "$objects": .array(objects),
            ]))
    }

    /// The archive written anew.
    package func data(root: Int) -> Data { Self.data(objects.map(\.written), root: root) }

    package var count: Int { objects.count }

    package subscript(_ place: Int) -> PropertyListItem { objects[objects.startIndex + place] }

    /// The place of an object that was archived under a name; nil if there is none.
    package func top(_ name: String) -> Int? {
        guard let place = tops[name]?.reference, place < count else { return nil }
        return place
    }

    /// The name of an object's class; nil for what is no object of a class: plain values and descriptions of classes.
    ///
    /// - Throws: for a class that the archive does not describe.
    package func className(_ place: Int) throws(ArchiveError) -> String? {
        guard let type = self[place]["$class"] else { return nil }
        guard let name = description(type)?["$classname"]?.text else {
            throw ArchiveError("It lacks the name of a class.")
        }
        return name
    }

    /// The names of an object's class and those above it.
    package func classNames(_ place: Int) -> [String] {
        self[place]["$class"].flatMap(description)?["$classes"]?.array?.compactMap(\.text) ?? []
    }

    private func description(_ type: PropertyListItem) -> PropertyListItem? {
        guard let place = type.reference, place < count else { return nil }
        return self[place]
    }

    /// Measures what an object stands for, every reference followed.
    ///
    /// - Returns: for each place whether the object leads to it.
    /// - Throws: for more or deeper objects than the limits, and for one that holds itself.
    package func check(from root: Int, _ limits: ArchiveLimits) throws(ArchiveError) -> [Bool] {
        try limits.check(nodes: count)
        let (starts, references) = (starts, references)
        return try Expansion.check(from: root, of: count, limits) { place, index in
            let position = starts[place] + index
            return position < starts[place + 1] ? Int(references[position]) : nil
        }.map { $0 > 0 }
    }
}
