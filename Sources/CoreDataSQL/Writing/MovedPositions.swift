// The positions of members that moved among others that stay.

/// Positions for a few members of an ordered to-many, between their neighbours. Of the others only those are asked for that are
/// near; where there is no room they are spread with the members, as `MemberPositions` does it.
package struct MovedPositions {
    /// The position of each place that is to be written, or that was asked for.
    private var values: [Int: Int64] = [:]
    private var held: [Int: Int64] = [:]
    private let count: Int
    private let find: (Int) throws -> Int64?

    /// nil where the neighbours' positions are of no use, or most would have to be spread anew.
    ///
    /// - Parameters:
    ///   - moved: places in the wanted order of `count` members, ascending.
    ///   - find: the position of the member at a place, which did not move.
    package init?(_ moved: [Int], of count: Int, find: @escaping (Int) throws -> Int64?) throws {
        self.count = count
        self.find = find
        var start = 0
        while start < moved.count {
            let place = moved[start]
            if values[place] == nil, try !fill(from: place, moved[start...]) { return nil }
            start += 1
        }
    }

    /// What is to be written, by place.
    package var changed: [(place: Int, position: Int64)] {
        values.filter { held[$0.key] != $0.value }.map { ($0.key, $0.value) }.sorted { $0.place < $1.place }
    }

    /// Gives positions to a run of moved members. What is before it has its own already.
    private mutating func fill(from place: Int, _ moved: ArraySlice<Int>) throws -> Bool {
        var waiting = moved
        var stretch = place..<place
        extend(&stretch, over: &waiting)
        var (reach, room) = (1, Int64(1))
        while true {
            guard let ends = try ends(of: stretch) else { return false }
            if spread(stretch, between: ends.before, ends.after, room) { return true }
            stretch = max(0, stretch.lowerBound - reach)..<min(count, stretch.upperBound + reach)
            extend(&stretch, over: &waiting)
            guard stretch.count <= count / 2 else { return false }
            room = Int64(2 * Double(stretch.count).squareRoot())
            reach *= 2
        }
    }

    /// The positions beside a stretch, of which the second may be missing; nil if they do not ascend.
    private mutating func ends(of stretch: Range<Int>) throws -> (before: Int64, after: Int64?)? {
        guard let before = stretch.lowerBound == 0 ? 0 : try position(at: stretch.lowerBound - 1) else { return nil }
        if stretch.upperBound == count { return (before, nil) }
        guard let after = try position(at: stretch.upperBound), after > before else { return nil }
        return (before, after)
    }

    /// What a place has, or is to have.
    private mutating func position(at place: Int) throws -> Int64? {
        if let known = values[place] { return known }
        guard let found = try find(place), (1...Int64.max / 4).contains(found) else { return nil }
        held[place] = found
        values[place] = found
        return found
    }

    /// Spreads a stretch evenly, unless the positions would be nearer to each other than `room`.
    private mutating func spread(_ stretch: Range<Int>, between before: Int64, _ after: Int64?, _ room: Int64) -> Bool {
        let distance = after.map { ($0 - before) / Int64(stretch.count + 1) } ?? MemberPositions.step
        guard distance >= room else { return false }
        for (step, place) in stretch.enumerated() { values[place] = before + Int64(step + 1) * distance }
        return true
    }

    /// Widens a stretch to the end of a run of members without a position.
    private func extend(_ stretch: inout Range<Int>, over waiting: inout ArraySlice<Int>) {
        while let next = waiting.first, next <= stretch.upperBound {
            waiting.removeFirst()
            stretch = stretch.lowerBound..<max(stretch.upperBound, next + 1)
        }
    }
}
