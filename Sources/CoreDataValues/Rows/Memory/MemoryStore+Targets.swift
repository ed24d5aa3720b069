// Members of many owners from a store in memory.

import Foundation

extension MemoryStore {
    package func targets(
        of relationship: RelationshipIndex, from owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        let description = try toMany(relationship)
        let tables = try tables(view)
        var rows: [MemoryRow] = []
        var places: [Int64] = []
        for owner in Set(owners).sorted() {
            let members = tables.members(of: description, owner: owner, in: schema)
            rows += members
            places += Array(repeating: owner, count: members.count)
        }
        var next = 0
        try BatchPacker(schema: schema).pack(rows[...]) { batch in
            defer { next += batch.count }
            return try receive(MemberBatch(rows: batch, owners: Array(places[next..<next + batch.count])))
        }
    }
}
