// The last positions of ordered to-manys that a session has looked up or written.

import CoreDataValues

/// No index of the file format leads to the last position: to look it up is to look at all members. A session that has done so
/// need not do it again as long as nobody else writes to the database.
///
/// A number here is at least the last position. Used in transactions that write.
package final class OrderEnds {
    package init() {}

    struct Owner: Hashable {
        let relationship: RelationshipIndex
        let number: Int64
    }

    private var ends: [Owner: Int64] = [:]
    private var version: Int64 = 0
    private static let limit = 4096

    var isEmpty: Bool { ends.isEmpty }

    package func clear() { if !ends.isEmpty { ends = [:] } }

    /// Forgets all if somebody else has written since they were kept.
    func check(_ session: any SQLSession) throws {
        let now = try session.foreignChanges()
        if now != version || ends.count > Self.limit { clear() }
        version = now
    }

    func end(of owner: Owner) -> Int64? { ends[owner] }

    func keep(_ end: Int64, of owner: Owner) { ends[owner] = end }

    /// A member has got a position: another end than the last of those kept.
    func raise(to position: Int64, of owner: Owner) {
        if let end = ends[owner], end < position { ends[owner] = position }
    }

    func forget(_ owner: Owner) { ends[owner] = nil }
}
