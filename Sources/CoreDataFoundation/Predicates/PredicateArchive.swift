// Predicates and expressions in keyed archives.

import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import Foundation

/// What archives hold of a predicate or an expression.
protocol ArchivedTree: Codable {
    var namesRows: Bool { get }
}

extension Predicate: ArchivedTree {}
extension Expression: ArchivedTree {}

extension NSCoder {
    private static let key = "OpenCoreData.tree"
    /// What lies in one another in the tree of the deepest format text: three containers a level, and some.
    private static let deepest = 700

    /// Encodes a tree, or nothing if there is none; reading such an archive fails. Objects that only their store knows are none.
    func encode<Tree: ArchivedTree>(tree: Tree?) {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        guard let tree, !tree.namesRows, let data = try? encoder.encode(tree) else { return }
        encode(data as NSData, forKey: NSCoder.key)
    }

    /// nil for an archive that holds none.
    func decodeTree<Tree: ArchivedTree>(_ type: Tree.Type) -> Tree? {
        guard containsValue(forKey: NSCoder.key), let object = decodeObject(of: NSData.self, forKey: NSCoder.key) else {
            return nil
        }
        let data = object as Data
        // Foundation's reader would follow whatever they say.
        var limits = ArchiveLimits.document(bytes: data.count)
        limits.depth = NSCoder.deepest
        guard (try? PropertyList(data, limits)) != nil else { return nil }
        return try? PropertyListDecoder().decode(type, from: data)
    }
}
