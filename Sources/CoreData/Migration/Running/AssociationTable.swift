// Which source object became which destination object, in one entity mapping.

import CoreDataValues
import Foundation

/// Pairs of objects, found from either side. Holds names of rows, no objects: some 60 bytes a pair, and as much again for each side that
/// was asked for.
final class AssociationTable {
    /// Rows of one tree have different numbers.
    private struct Place: Hashable {
        let root: EntityIndex
        let number: Int64
        init(_ object: NSManagedObject) { self.init(object._state.info.entity.root, object._state.key) }
        init(_ root: EntityIndex, _ key: ObjectKey) { (self.root, number) = (root, key.number) }
    }
    /// The first and the last pair of an object, and for each pair the next one of the same object.
    private struct Chains {
        private var ends: [Place: (first: Int32, last: Int32)] = [:]
        private var next: ContiguousArray<Int32> = []

        init(_ places: some Sequence<Place>) { for place in places { add(place) } }

        mutating func add(_ place: Place) {
            let pair = Int32(next.count)
            next.append(-1)
            if let known = ends[place] {
                next[Int(known.last)] = pair
                ends[place] = (known.first, pair)
            } else {
                ends[place] = (pair, pair)
            }
        }

        func pairs(of place: Place) -> [Int] {
            var pairs: [Int] = []
            var pair = ends[place]?.first ?? -1
            while pair >= 0 {
                pairs.append(Int(pair))
                pair = next[Int(pair)]
            }
            return pairs
        }

        func first(of place: Place) -> Int? { ends[place].map { Int($0.first) } }

        func isFirst(_ pair: Int, of place: Place) -> Bool { ends[place].map { Int($0.first) == pair } ?? false }

        mutating func move(_ former: Place, to place: Place) {
            if let known = ends.removeValue(forKey: former) { ends[place] = known }
        }
    }
    private(set) var sourceKeys: ContiguousArray<ObjectKey> = []
    private(set) var destinationKeys: ContiguousArray<ObjectKey> = []
    /// The trees of the two entities of each pair.
    private var roots: ContiguousArray<(source: EntityIndex, destination: EntityIndex)> = []
    /// Made when somebody asks: of many mappings nobody does.
    private var bySource: Chains?
    private var byDestination: Chains?
    /// Pairs whose destination has no row yet.
    private var unsaved: [(pair: Int, object: NSManagedObject)] = []

    func add(_ source: NSManagedObject, _ destination: NSManagedObject) {
        let (from, to) = (Place(source), Place(destination))
        if to.number <= 0 { unsaved.append((destinationKeys.count, destination)) }
        sourceKeys.append(source._state.key)
        destinationKeys.append(destination._state.key)
        roots.append((from.root, to.root))
        bySource?.add(from)
        byDestination?.add(to)
    }

    /// Once the destination was saved: rows have their numbers.
    func acceptSavedKeys() {
        for (pair, object) in unsaved {
            let former = Place(roots[pair].destination, destinationKeys[pair])
            destinationKeys[pair] = object._state.key
            byDestination?.move(former, to: Place(object))
        }
        unsaved = []
    }

    func removeAll() {
        (sourceKeys, destinationKeys, roots, unsaved) = ([], [], [], [])
        (bySource, byDestination) = (nil, nil)
    }

    private func sourceChains() -> Chains {
        if let bySource { return bySource }
        let chains = Chains(zip(sourceKeys, roots).lazy.map { Place($1.source, $0) })
        bySource = chains
        return chains
    }

    private func destinationChains() -> Chains {
        if let byDestination { return byDestination }
        let chains = Chains(zip(destinationKeys, roots).lazy.map { Place($1.destination, $0) })
        byDestination = chains
        return chains
    }

    /// The first that an object became; nil for one that became nothing.
    func destination(of source: NSManagedObject) -> ObjectKey? {
        sourceChains().first(of: Place(source)).map { destinationKeys[$0] }
    }

    func destinations(of sources: [NSManagedObject]) -> [ObjectKey] {
        let chains = sourceChains()
        return sources.flatMap { chains.pairs(of: Place($0)).map { destinationKeys[$0] } }
    }

    func sources(of destinations: [NSManagedObject]) -> [ObjectKey] {
        let chains = destinationChains()
        return destinations.flatMap { chains.pairs(of: Place($0)).map { sourceKeys[$0] } }
    }

    /// Whether a pair is the first of its destination object.
    func isFirst(_ pair: Int, of destination: NSManagedObject) -> Bool {
        destinationChains().isFirst(pair, of: Place(destination))
    }
}
