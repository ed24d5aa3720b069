// Reads the members of many owners for a child.

import CoreDataValues

/// An owner's current key, and the number by which the child asked for it.
struct AskedOwner {
    let key: ObjectKey
    let name: Int64
}

extension NSManagedObjectContext {
    /// Returns the members of a to-many of many owners, in order for each: from owners that know them here, else from
    /// below with one statement for each store.
    final func batches(
        of relationship: RelationshipIndex, owners: [AskedOwner], areAll: Bool
    ) throws -> [MemberBatch] {
        let description = runtime.schema[relationship]
        guard let index = description.toManyIndex else { return [] }
        var known: [(object: NSManagedObject, name: Int64)] = []
        var others: [UInt16: [AskedOwner]] = [:]
        for owner in owners {
            if let object = knowing(owner.key) {
                known.append((object, owner.name))
            } else {
                others[owner.key.store, default: []].append(owner)
            }
        }
        // Members that these have not read yet are read together.
        try Prefetch(context: self, isEverything: false).run(
            [PrefetchStep(relationship: description)], known.map(\.object))
        var members: [(object: NSManagedObject, owner: Int64)] = []
        for owner in known { members += owner.object.members(at: index).map { (object: $0, owner: owner.name) } }
        try faulting.throwReadError()
        var batches = try pack(members)
        for (store, owners) in others {
            batches += try stored(relationship, owners, in: store, areAll: areAll && known.isEmpty && others.count == 1)
        }
        return batches
    }

    /// Reads the members of owners whose to-manys are unknown here.
    private func stored(
        _ relationship: RelationshipIndex, _ owners: [AskedOwner], in store: UInt16, areAll: Bool
    ) throws -> [MemberBatch] {
        guard let rows = reader(of: store) else { return [] }
        let numbers = owners.map(\.key.number).sorted()
        var names: [Int64: Int64] = [:]
        for owner in owners where owner.key.number != owner.name { names[owner.key.number] = owner.name }
        var batches: [MemberBatch] = []
        func take(_ batch: MemberBatch) throws -> FetchStep {
            let owners = names.isEmpty ? batch.owners : batch.owners.map { names[$0] ?? $0 }
            if batch.rows.chunks.contains(where: { holdsOtherwise($0, store: store) }) {
                batches += try pack(
                    zip(faulting.materialize([batch.rows], store: store), owners).map { (object: $0, owner: $1) })
            } else {
                batches.append(MemberBatch(rows: batch.rows, owners: owners))
            }
            return .more
        }
        if areAll {
            try rows.targets(of: relationship, fromAll: numbers, .latest, take)
        } else {
            try rows.targets(of: relationship, from: numbers, .latest, take)
        }
        return batches
    }

    private func pack(_ members: [(object: NSManagedObject, owner: Int64)]) throws -> [MemberBatch] {
        let read = try readRows(of: members.map(\.object).filter { !$0._state.hasValues }.map(\._state.key))
        defer { withExtendedLifetime(read) {} }
        var packer = ChildRows(room: members.count)
        var owners: [Int64] = []
        for member in members where try packer.add(member.object, in: self) { owners.append(member.owner) }
        var rest = owners[...]
        return packer.finish().map { batch in
            defer { rest = rest.dropFirst(batch.count) }
            return MemberBatch(rows: batch, owners: Array(rest.prefix(batch.count)))
        }
    }
}
