// Members of many owners from a store in memory.

import Foundation

extension MemoryStore {
    package func targets(
        of relationship: RelationshipIndex, from owners: [Int64], _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        let description = schema[relationship]
        guard description.isToMany else {
            throw StoreError(
                134060, "The members of “\(description.name)” were asked for, which is a to-one; read its cell.",
                entity: schema[description.owner].name, property: description.name)
        }
        let tables = try tables()
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
