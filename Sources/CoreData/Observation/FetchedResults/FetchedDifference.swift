// What leads from one list of results to the next.

import Foundation

/// Sections and objects that came, went, moved or have other values.
struct FetchedDifference {
    struct Change {
        let object: NSManagedObject
        let type: NSFetchedResultsChangeType
        /// Places in the former list and in the new one.
        let old: Int?
        let new: Int?
    }

    private(set) var deletedSections: [Int] = []
    private(set) var insertedSections: [Int] = []
    /// Deletions from the end, insertions and moves from the front, updates.
    private(set) var changes: [Change] = []

    var isEmpty: Bool { deletedSections.isEmpty && insertedSections.isEmpty && changes.isEmpty }

    /// - Parameters:
    ///   - touched: what the event changed; only these are updates.
    ///   - isWhole: whether other objects may have moved too. Else these alone are told to have moved.
    init(from old: FetchedList, to new: FetchedList, touched: Set<ObjectIdentifier>, isWhole: Bool) {
        let kept = keptSections(old, new)
        var moved: [Change] = []
        var updated: [Change] = []
        var inserted: [Change] = []
        var standing: [(old: Int, new: Int, isFree: Bool)] = []
        for (place, object) in new.objects.enumerated() {
            guard let former = old.place(of: object) else {
                inserted.append(Change(object: object, type: .insert, old: nil, new: place))
                continue
            }
            let isTouched = touched.contains(ObjectIdentifier(object))
            if kept[old.section(at: former)] != new.section(at: place) {
                moved.append(Change(object: object, type: .move, old: former, new: place))
            } else {
                standing.append((former, place, isWhole || isTouched))
            }
        }
        let still = FetchedDifference.longestRun(of: standing)
        for (index, pair) in standing.enumerated() {
            let object = new.objects[pair.new]
            if !still[index] {
                moved.append(Change(object: object, type: .move, old: pair.old, new: pair.new))
            } else if touched.contains(ObjectIdentifier(object)) {
                updated.append(Change(object: object, type: .update, old: pair.old, new: pair.new))
            }
        }
        let deleted = old.objects.enumerated().reversed().compactMap { place, object in
            new.place(of: object) == nil ? Change(object: object, type: .delete, old: place, new: nil) : nil
        }
        let came = (inserted + moved).sorted { ($0.new ?? 0) < ($1.new ?? 0) }
        changes = deleted + came + updated
    }

    /// By the number of a former section, its number now; nil for one that went. Sections that changed places went and came.
    private mutating func keptSections(_ old: FetchedList, _ new: FetchedList) -> [Int?] {
        let numbers = Dictionary(uniqueKeysWithValues: new.sections.enumerated().map { ($1, $0) })
        let common = old.sections.enumerated().compactMap { former, section in
            numbers[section].map { (old: former, new: $0, isFree: true) }
        }.sorted { $0.new < $1.new }
        let still = FetchedDifference.longestRun(of: common)
        var kept: [Int?] = Array(repeating: nil, count: old.sections.count)
        for (index, pair) in common.enumerated() where still[index] { kept[pair.old] = pair.new }
        deletedSections = kept.indices.filter { kept[$0] == nil }.reversed()
        let stays = Set(kept.compactMap { $0 })
        insertedSections = new.sections.indices.filter { !stays.contains($0) }
        return kept
    }

    /// Which of the pairs stay where they are: as many as can, those that are not free all.
    ///
    /// The pairs come in the new order, and those that are not free are in the former order as well: between two of these the
    /// longest rising run of former places stays.
    static func longestRun(of pairs: [(old: Int, new: Int, isFree: Bool)]) -> [Bool] {
        var stays = pairs.map { !$0.isFree }
        var start = 0
        var low = -1
        for end in 0...pairs.count where end == pairs.count || !pairs[end].isFree {
            let high = end == pairs.count ? Int.max : pairs[end].old
            if start < end { markRun(pairs, start..<end, between: low, high, &stays) }
            (start, low) = (end + 1, high)
        }
        return stays
    }

    /// Patience: for each length of a run the pair that ends one with the lowest former place.
    private static func markRun(
        _ pairs: [(old: Int, new: Int, isFree: Bool)], _ range: Range<Int>, between low: Int, _ high: Int,
        _ stays: inout [Bool]
    ) {
        var ends: [Int] = []
        var before: [Int: Int] = [:]
        for index in range where pairs[index].old > low && pairs[index].old < high {
            var (from, to) = (0, ends.count)
            while from < to {
                let middle = (from + to) / 2
                if pairs[ends[middle]].old < pairs[index].old { from = middle + 1 } else { to = middle }
            }
            if from > 0 { before[index] = ends[from - 1] }
            if from == ends.count { ends.append(index) } else { ends[from] = index }
        }
        var next = ends.last
        while let index = next {
            stays[index] = true
            next = before[index]
        }
    }
}
