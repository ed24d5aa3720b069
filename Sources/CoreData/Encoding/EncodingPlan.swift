// A form bound to an entity: where each value lies, and what is read beforehand.

import CoreDataFoundation
import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

/// The name of a value.
struct EncodedKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// The values of one container, in order. Immutable once it is made.
final class EncodingPlan: @unchecked Sendable {
    indirect enum Source {
        case slot(Int, SlotKind)
        case objectID
        case count(toMany: Int)
        /// A computed property.
        case getter(AnyKeyPath)
        case target(slot: Int, EncodingPlan)
        case composite(EncodingPlan)
        case members(toMany: Int, EncodingPlan, [MemberOrder])
        /// What lies at the end of to-ones, beside the others.
        case beyond([Int], Source)
    }
    struct Field {
        let key: EncodedKey
        let source: Source
    }
    /// Kept, so that no other entity takes its place in tables; nil for the plan of no objects.
    private let info: EntityInfo?
    var entityName: String { info?.entity.name ?? "" }
    static let empty = EncodingPlan(nil, [], .objects(writesNulls: false), path: [])
    /// What becomes of an object.
    enum Shape {
        case objects(writesNulls: Bool)
        /// The value of its only field, in a list.
        case values
    }
    let fields: [Field]
    let shape: Shape
    var writesNulls: Bool { if case .objects(true) = shape { true } else { false } }
    /// How many cells an object has.
    let width: Int
    /// From the outermost object, for errors.
    let path: [EncodedKey]
    /// What is read for all objects at once.
    let prefetch: [PrefetchStep]

    init(_ info: EntityInfo?, _ fields: [Field], _ shape: Shape, path: [EncodedKey], prefetch: [PrefetchStep] = []) {
        self.info = info
        self.fields = fields
        self.shape = shape
        self.path = path
        self.prefetch = prefetch
        width = fields.reduce(0) { $0 + $1.source.width }
    }
}

extension EncodingPlan.Source {
    /// A container has a cell that tells whether it is there, and those of its values.
    var width: Int {
        switch self {
        case .slot, .objectID, .count, .getter, .members: 1
        case .target(_, let plan), .composite(let plan): 1 + plan.width
        case .beyond(_, let source): source.width
        }
    }
}

extension PrefetchStep {
    /// The step and those beyond it, as key paths.
    var paths: [String] {
        [relationship.name] + beyond.flatMap(\.paths).map { "\(relationship.name).\($0)" }
    }
}
