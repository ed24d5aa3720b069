// Properties of Foundation's and Swift's own types that predicates can ask for.

import CoreDataValues
import Foundation

/// What a property of a value is in a predicate.
enum CounterpartProperty {
    case length, isEmptyText, memberCount, hasNoMembers, first, last
    /// The value itself: a date is its number of seconds.
    case itself

    func of(_ value: NSExpression) -> PredicateTerm {
        switch self {
        case .length: .value(NSExpression(forFunction: "length:", arguments: [value]))
        case .isEmptyText: .condition(.comparing(value, .equalTo, NSExpression(forConstantValue: "")))
        case .memberCount: .value(value.appending(.key("@count")))
        case .hasNoMembers:
            .condition(.comparing(value.appending(.key("@count")), .equalTo, NSExpression(forConstantValue: 0)))
        case .first: .value(item("FIRST", of: value))
        case .last: .value(item("LAST", of: value))
        case .itself: .value(value)
        }
    }

    private func item(_ place: String, of value: NSExpression) -> NSExpression {
        NSExpression(content: .function("objectFrom:withIndex:", [value, NSExpression(content: .function(place, []))]))
    }
}

/// A type some of whose properties predicates can ask for.
protocol CounterpartProperties {
    static var counterparts: [(AnyKeyPath, CounterpartProperty)] { get }
}

extension CounterpartProperties {
    static func counterpart(of keyPath: AnyKeyPath) -> CounterpartProperty? {
        counterparts.first { $0.0 == keyPath }?.1
    }
}

extension String: CounterpartProperties {
    static var counterparts: [(AnyKeyPath, CounterpartProperty)] {
        [(\String.count, .length), (\String.isEmpty, .isEmptyText)]
    }
}

extension Array: CounterpartProperties {
    static var counterparts: [(AnyKeyPath, CounterpartProperty)] {
        [
            (\[Element].count, .memberCount), (\[Element].isEmpty, .hasNoMembers), (\[Element].first, .first),
            (\[Element].last, .last),
        ]
    }
}

extension Set: CounterpartProperties {
    static var counterparts: [(AnyKeyPath, CounterpartProperty)] {
        [(\Set<Element>.count, .memberCount), (\Set<Element>.isEmpty, .hasNoMembers)]
    }
}

extension NSSet: CounterpartProperties {
    static var counterparts: [(AnyKeyPath, CounterpartProperty)] { [(\NSSet.count, .memberCount)] }
}

extension NSOrderedSet: CounterpartProperties {
    static var counterparts: [(AnyKeyPath, CounterpartProperty)] { [(\NSOrderedSet.count, .memberCount)] }
}

extension Date: CounterpartProperties {
    static var counterparts: [(AnyKeyPath, CounterpartProperty)] { [(\Date.timeIntervalSinceReferenceDate, .itself)] }
}
