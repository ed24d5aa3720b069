// All that a store in memory holds, as plain lists: what files are written from and read into.

import Foundation
import Synchronization

/// The content of a store. Entities and relationships are named by their places in the schema.
package struct StoreImage: Sendable {
    /// A member of a many-to-many or of a to-many without inverse, or its place in an ordered to-many.
    package struct Pair: Sendable {
        package let relationship: RelationshipIndex
        /// 0 for the place of a member that has only one owner.
        package let owner: Int64
        package let member: Int64
        package let place: Int
        package init(relationship: RelationshipIndex, owner: Int64, member: Int64, place: Int = 0) {
            self.relationship = relationship
            self.owner = owner
            self.member = member
            self.place = place
        }
    }

    package var metadata: StoreMetadata
    /// The next number of each tree, by root.
    package var next: [EntityIndex: Int64] = [:]
    /// By tree, then by number.
    package var rows: [MemoryRow] = []
    package var links: [Pair] = []
    package var adoptions: [Pair] = []
    package var places: [Pair] = []

    package init(metadata: StoreMetadata) { self.metadata = metadata }
}

extension MemoryStore {
    /// What the store holds now.
    package func image() throws -> StoreImage {
        let state = try withState { $0 }
        var image = StoreImage(metadata: state.metadata)
        for (root, tree) in state.tables.trees.sorted(by: { $0.key < $1.key }) {
            image.next[root] = tree.next
            image.rows += tree.rows
        }
        for (index, owners) in state.tables.links {
            guard let inverse = schema[index].inverse, index.rawValue <= inverse.rawValue else { continue }
            for (owner, members) in owners {
                for member in members where index != inverse || owner <= member {
                    image.links.append(.init(relationship: index, owner: owner, member: member))
                }
            }
        }
        for (index, owners) in state.tables.owners {
            for (member, owner) in owners {
                image.adoptions.append(.init(relationship: index, owner: owner, member: member))
            }
        }
        for (index, places) in state.tables.places {
            for (place, position) in places {
                image.places.append(
                    .init(relationship: index, owner: place.owner, member: place.member, place: position))
            }
        }
        image.sortPairs()
        return image
    }

    /// A store of the same configuration that holds an image.
    ///
    /// - Throws: 134080 when two rows have one number or one value of a uniqueness constraint.
    package func holding(_ image: StoreImage) throws(StoreError) -> MemoryStore {
        var tables = MemoryTables()
        for row in image.rows {
            guard row.key.number > 0, tables.row(row.key.number, in: schema[row.key.entity].root) == nil else {
                throw damaged("has two rows or none with the number \(row.key.number)", row)
            }
            tables.put(row, schema: schema)
            let claims = ConstraintIndex.claims(of: row, schema: schema)
            guard claims.allSatisfy({ tables.constraints.taken[$0] == nil }) else {
                throw damaged("repeats a unique value in row \(row.key.number)", row)
            }
            tables.constraints.claim(claims, for: row.key.number)
        }
        for (root, next) in image.next {
            tables.trees[root, default: MemoryTree()].next = max(tables.trees[root]?.next ?? 1, next)
        }
        for root in tables.trees.keys { tables.trees[root]?.sortNumbers() }
        for pair in image.links {
            guard let inverse = schema[pair.relationship].inverse else { continue }
            tables.links[pair.relationship, default: [:]][pair.owner, default: []].insert(pair.member)
            tables.links[inverse, default: [:]][pair.member, default: []].insert(pair.owner)
        }
        for pair in image.adoptions {
            // A member has one owner; a file that names two keeps the last.
            if let former = tables.owners[pair.relationship]?[pair.member] {
                tables.adopted[pair.relationship]?[former]?.remove(pair.member)
            }
            tables.owners[pair.relationship, default: [:]][pair.member] = pair.owner
            tables.adopted[pair.relationship, default: [:]][pair.owner, default: []].insert(pair.member)
        }
        for pair in image.places {
            let place = MemoryTables.Place(owner: pair.owner, member: pair.member)
            tables.places[pair.relationship, default: [:]][place] = pair.place
        }
        return MemoryStore(like: self, State(tables: tables, metadata: image.metadata))
    }

    /// A store with the same content. What is written to one is not seen in the other.
    package func fork() throws -> MemoryStore { MemoryStore(like: self, try withState { $0 }) }

    private func damaged(_ what: String, _ row: MemoryRow) -> StoreError {
        StoreError(
            134080, "The store \(what) of \(schema[row.key.entity].name). Restore its file from a copy.",
            entity: schema[row.key.entity].name)
    }
}

extension StoreImage {
    /// A fixed order, so that the same content gives the same file.
    fileprivate mutating func sortPairs() {
        func order(_ a: Pair, _ b: Pair) -> Bool {
            (a.relationship.rawValue, a.owner, a.member) < (b.relationship.rawValue, b.owner, b.member)
        }
        links.sort(by: order)
        adoptions.sort(by: order)
        places.sort(by: order)
    }
}
