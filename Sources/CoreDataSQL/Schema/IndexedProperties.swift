// Which properties the indexes of a store begin with.

import CoreDataValues

extension StoreMap {
    /// Whether a new store has an index of all rows that begins with the column of a property.
    func isIndexed(_ candidate: IndexCandidate) -> Bool {
        let entity = schema[candidate.entity]
        guard let table = try? table(of: entity.index), let column = table.column(of: candidate.slot, in: entity.index)
        else { return false }
        return entity.slots[candidate.slot].kind == .toOne
            || entities.contains { other in
                other.root == entity.root
                    && other.indexedSlots.contains { table.column(of: $0, in: other.index) == column }
            }
    }
}

extension Entity {
    /// The slots that its own indexes and uniqueness constraints begin with, but for R-trees and indexes of some rows.
    fileprivate var indexedSlots: [Int] {
        let declared = draft.indexes.filter { $0.partialPredicate == nil && !$0.elements.contains(where: \.isRTree) }
        let flagged = draft.attributes.filter { $0.isIndexed && !$0.isTransient }.map(\.name)
        let firsts = declared.compactMap { $0.elements.first { slot(of: $0.property) != nil }?.property }
        return (firsts + flagged).compactMap(slot) + constraints.filter { $0.owner == index }.compactMap(\.slots.first)
    }

    private func slot(of property: String?) -> Int? {
        if case .slot(let slot)? = property.flatMap({ places[$0] }) { slot } else { nil }
    }
}
