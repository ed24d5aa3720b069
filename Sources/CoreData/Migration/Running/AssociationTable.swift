// Which source object became which destination object, in one entity mapping.

import CoreDataValues
import Foundation

/// Pairs of objects, found from either side. Holds names of rows, no objects: some 60 bytes a pair, and as much again for each side that
/// was asked for. A pair whose destination is deleted keeps its place, with a key that is no object's.
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

        mutating func remove(_ place: Place) { ends[place] = nil }
    }
    private var sourceKeys: ContiguousArray<ObjectKey> = []
    private var destinationKeys: ContiguousArray<ObjectKey> = []
    /// The key of a deleted destination.
    private static let none = ObjectKey(number: 0, entity: EntityIndex(0), store: 0)
    /// The trees of the two entities of each pair.
    private var roots: ContiguousArray<(source: EntityIndex, destination: EntityIndex)> = []
    private var destinationRoots: Set<EntityIndex> = []
    /// Made when somebody asks: of many mappings nobody does.
    private var bySource: Chains?
    private var byDestination: Chains?
    /// Pairs whose destination is not saved yet.
    private var unsaved: [(pair: Int, object: NSManagedObject)] = []

    func add(_ source: NSManagedObject, _ destination: NSManagedObject) {
        let (from, to) = (Place(source), Place(destination))
        if to.number <= 0 || destination._state.has(.inserted) { unsaved.append((destinationKeys.count, destination)) }
        sourceKeys.append(source._state.key)
        destinationKeys.append(destination._state.key)
        if roots.last?.destination != to.root { destinationRoots.insert(to.root) }
        roots.append((from.root, to.root))
        bySource?.add(from)
        byDestination?.add(to)
    }

    /// How many pairs there are, with those whose destination is deleted.
    var count: Int { destinationKeys.count }

    /// Those of a range whose destination is there.
    func pairs(_ range: Range<Int>) -> [(number: Int, source: ObjectKey, destination: ObjectKey)] {
        range.clamped(to: 0..<count).compactMap { pair in
            hasDestination(pair) ? (pair, sourceKeys[pair], destinationKeys[pair]) : nil
        }
    }

    private func hasDestination(_ pair: Int) -> Bool { destinationKeys[pair].number != 0 }

    /// Once the destination was saved: rows have their numbers. What was deleted before has none.
    func acceptSavedKeys(_ context: NSManagedObjectContext) {
        var waiting: [(pair: Int, object: NSManagedObject)] = []
        for (pair, object) in unsaved {
            let former = Place(roots[pair].destination, destinationKeys[pair])
            let own = object._state.key
            // A child's object may not know its row.
            let key = own.number > 0 ? own : context.currentKey(own)
            if object._state.has([.deleted, .detached]), key == own, context.registered(key)?.isThere != true {
                destinationKeys[pair] = Self.none
                byDestination?.remove(former)
            } else if key.number > 0, !object._state.has(.inserted) {
                destinationKeys[pair] = key
                byDestination?.move(former, to: Place(former.root, key))
            } else {
                waiting.append((pair, object))
            }
        }
        unsaved = waiting
    }

    /// Forgets the pairs of destinations whose rows are gone.
    func remove(_ deleted: ContiguousArray<NSManagedObject>) {
        if destinationKeys.isEmpty { return }
        deleted.borrowEach { object in
            let place = Place(object)
            guard destinationRoots.contains(place.root) else { return }
            for pair in destinationChains().pairs(of: place) { destinationKeys[pair] = Self.none }
            byDestination?.remove(place)
        }
    }

    func removeAll() {
        (sourceKeys, destinationKeys, roots, unsaved) = ([], [], [], [])
        destinationRoots = []
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
        var chains = Chains(zip(destinationKeys, roots).lazy.map { Place($1.destination, $0) })
        for root in destinationRoots { chains.remove(Place(root, Self.none)) }
        byDestination = chains
        return chains
    }

    /// The first that an object became; nil for one that became nothing.
    func destination(of source: NSManagedObject) -> ObjectKey? {
        guard let first = sourceChains().first(of: Place(source)) else { return nil }
        return hasDestination(first) ? destinationKeys[first] : destinations(of: [source]).first
    }

    func destinations(of sources: [NSManagedObject]) -> [ObjectKey] {
        let chains = sourceChains()
        return sources.flatMap { chains.pairs(of: Place($0)).filter(hasDestination).map { destinationKeys[$0] } }
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

extension NSManagedObject {
    /// Whether an object was deleted, before its first save or after its last one.
    final var isDiscarded: Bool { _state.has(.deleted) || _state.has(.detached) && _state.key.number <= 0 }

    /// Whether an object of the destination's context is neither deleted nor a fault in the place of one that never had a row.
    final var isThere: Bool {
        !_state.has([.deleted, .detached]) && (_state.key.number > 0 || _state.has(.inserted))
    }
}
