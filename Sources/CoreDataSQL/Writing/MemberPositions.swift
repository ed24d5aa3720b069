// Which members of an ordered to-many get another position when they are to stand in another order.

import CoreDataValues

/// Positions ascend with room between neighbours. The most members that are in the wanted order already keep theirs; the others
/// are spread evenly between them. Where there is no room, neighbours are spread anew with them, as few as leave room for more.
///
/// Costs n log n for n members. An insertion moves few others, wherever insertions gather: a wider stretch is only spread when
/// its positions come to lie farther apart, so that the next ones find room for longer.
package struct MemberPositions {
    /// The distance of neighbours where nothing lies behind them.
    package static var step: Int64 { 1024 }

    /// The positions in the wanted order, ascending; all positive.
    package private(set) var values: [Int64]
    /// The places in the wanted order whose position is another than before.
    package private(set) var changed: [Int] = []

    /// - Parameter held: what the members have, in the wanted order; nil where there is none. It need not be a number that is
    ///   written here: one that is not positive, or so large that a sum might overflow, is taken for none.
    package init(held: [Int64?]) {
        let known = held.map { $0.flatMap { (1...Int64.max / 4).contains($0) ? $0 : nil } }
        values = known.map { _ in 0 }
        let places = known.indices.filter { known[$0] != nil }
        let positions = known.compactMap { $0 }
        for kept in positions.longestAscent() { values[places[kept]] = positions[kept] }
        fillGaps()
        changed = values.indices.filter { values[$0] != held[$0] }
    }

    /// The position behind the last one.
    package static func next(after last: Int64) -> Int64 { last < .max / 4 ? last + step : last }

    /// From front to back, so that whatever is before a gap has its position.
    private mutating func fillGaps() {
        var place = 0
        while place < values.count {
            if values[place] == 0 { place = fillGap(at: place) } else { place += 1 }
        }
    }

    /// Answers the place behind the stretch that was written.
    private mutating func fillGap(at place: Int) -> Int {
        var stretch = place..<gapEnd(from: place)
        var (reach, room) = (1, Int64(1))
        while !spread(stretch, room) {
            let (first, end) = (max(0, stretch.lowerBound - reach), min(values.count, stretch.upperBound + reach))
            stretch = first..<gapEnd(from: end)
            // Between a constant and the number itself: the positions of twice as many lie 1.4 times as far apart.
            room = Int64(2 * Double(stretch.count).squareRoot())
            reach *= 2
        }
        return stretch.upperBound
    }

    private func gapEnd(from place: Int) -> Int {
        var end = place
        while end < values.count, values[end] == 0 { end += 1 }
        return end
    }

    /// Spreads a stretch evenly between its neighbours, unless the positions would be nearer to each other than `room`.
    private mutating func spread(_ stretch: Range<Int>, _ room: Int64) -> Bool {
        let before = stretch.lowerBound == 0 ? 0 : values[stretch.lowerBound - 1]
        var distance = Self.step
        if stretch.upperBound < values.count {
            distance = (values[stretch.upperBound] - before) / Int64(stretch.count + 1)
            guard distance >= room else { return false }
        }
        var position = before
        for place in stretch {
            position += distance
            values[place] = position
        }
        return true
    }
}
