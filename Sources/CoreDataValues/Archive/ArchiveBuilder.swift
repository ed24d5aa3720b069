// Keyed archives of objects that refer to each other, put together.

import Foundation

/// The objects of an archive while they are put together.
package struct ArchiveBuilder {
    private var objects: [ArchiveNode] = [.text("$null")]
    private var classes: [String: Int] = [:]
    private var texts: [String: Int] = [:]

    package init() {}

    package static let null = ArchiveNode.reference(0)

    package mutating func add(_ node: ArchiveNode) -> ArchiveNode {
        objects.append(node)
        return .reference(objects.count - 1)
    }

    package mutating func add(_ text: String) -> ArchiveNode {
        if let known = texts[text] { return .reference(known) }
        texts[text] = objects.count
        return add(.text(text))
    }

    package mutating func add(_ text: String?) -> ArchiveNode { text.map { add($0) } ?? Self.null }

    /// An object whose fields come later, so that others can refer to it.
    package mutating func reserve() -> Int {
        objects.append(Self.null)
        return objects.count - 1
    }

    package mutating func fill(_ place: Int, _ names: [String], _ fields: [String: ArchiveNode]) {
        var fields = fields
        fields["$class"] = type(names)
        objects[place] = .dictionary(fields)
    }

    package mutating func add(_ names: [String], _ fields: [String: ArchiveNode]) -> ArchiveNode {
        var fields = fields
        fields["$class"] = type(names)
        return add(.dictionary(fields))
    }

    package mutating func array(_ items: [ArchiveNode]) -> ArchiveNode {
        add(["NSMutableArray", "NSArray"], ["NS.objects": .array(items)])
    }

    package mutating func dictionary(_ entries: [(String, ArchiveNode)]) -> ArchiveNode {
        let keys = entries.map { add($0.0) }
        return add(
            ["NSMutableDictionary", "NSDictionary"], ["NS.keys": .array(keys), "NS.objects": .array(entries.map(\.1))])
    }

    private mutating func type(_ names: [String]) -> ArchiveNode {
        if let known = classes[names[0]] { return .reference(known) }
        classes[names[0]] = objects.count
        return add(
            .dictionary(["$classname": .text(names[0]), "$classes": .array((names + ["NSObject"]).map { .text($0) })]))
    }

    package func data(root: Int) -> Data { ArchivedObjects.data(objects, root: root) }
}
