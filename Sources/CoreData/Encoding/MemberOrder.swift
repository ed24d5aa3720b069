// How the encoded members of a to-many are ordered.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One key of the order of members: what lies in a slot is compared there, all else as its descriptor says.
enum MemberOrder {
    case slot(Int, SortTerm.Comparison, isAscending: Bool)
    case descriptor(NSSortDescriptor)

    init(_ descriptor: NSSortDescriptor, _ info: EntityInfo, _ runtime: ModelRuntime) {
        self = .descriptor(descriptor)
        guard let term = try? descriptor.term(keys: { try KeyPathNames.keys(of: $0, in: info, runtime) }),
            term.keyPath.count == 1, case .slot(let slot)? = info.entity.places[term.keyPath[0]]
        else { return }
        switch info.kinds[slot] {
        case .toOne, .entityTag, .transformable: break
        case .int, .bool, .double, .float, .date, .text, .uri, .uuid, .decimal, .data, .externalData:
            self = .slot(slot, term.comparison, isAscending: term.isAscending)
        }
    }

    func compare(_ a: NSManagedObject, _ b: NSManagedObject) -> ComparisonResult {
        switch self {
        case .descriptor(let descriptor): return descriptor.compare(a, to: b)
        case .slot(let slot, let comparison, let isAscending):
            let (first, second) = isAscending ? (a, b) : (b, a)
            return ValueOrder.sortOrder(first.loadedValue(at: slot), second.loadedValue(at: slot), by: comparison)
        }
    }
}

extension NSManagedObject {
    fileprivate func loadedValue(at slot: Int) -> Value {
        if _state.isFault { fire() }
        return value(at: slot)
    }
}
