// The members of many owners at once: what prefetching a to-many reads.

import Foundation

/// Rows at the other end of a to-many, with the owner of each.
package struct MemberBatch: Sendable {
    package let rows: RowBatch
    /// The number of each row's owner, in the batch's order. Rows of one owner stand together and in their order.
    package let owners: [Int64]

    package init(rows: RowBatch, owners: [Int64]) {
        self.rows = rows
        self.owners = owners
    }
}

extension StoreReader {
    package func targets(
        of relationship: RelationshipIndex, fromAll owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        try targets(of: relationship, from: owners, view, receive)
    }

    /// Asks for one owner after the other: what a store does that knows nothing better.
    package func targets(
        of relationship: RelationshipIndex, from owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        let entity = schema[relationship].owner
        for owner in owners {
            var isDone = false
            try members(of: relationship, owner: RowKey(entity: entity, number: owner), view) { batch in
                let step = try receive(
                    MemberBatch(rows: batch, owners: Array(repeating: owner, count: batch.count)))
                isDone = step == .stop
                return step
            }
            if isDone { return }
        }
    }
}
