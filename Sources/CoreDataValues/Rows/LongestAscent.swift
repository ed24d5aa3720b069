// What can stay where it is when an order changes.

extension [Int64] {
    /// The places of the most numbers that ascend, each above the one before it. Costs n log n.
    package func longestAscent() -> [Int] {
        // For each length the place where an ascent of that length ends lowest, and what comes before each place in its ascent.
        var ends: [Int] = []
        var former = [Int](repeating: -1, count: count)
        for (place, number) in enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if self[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { former[place] = ends[low - 1] }
            if low < ends.count { ends[low] = place } else { ends.append(place) }
        }
        var ascent: [Int] = []
        var place = ends.last ?? -1
        while place >= 0 {
            ascent.append(place)
            place = former[place]
        }
        return ascent.reversed()
    }
}
