// The description of an object: its entity, its ID and the values in memory.

import CoreDataValues
import Foundation

/// The text of one object. Keys are in the model's order, inherited ones first; related objects are shown as their IDs.
///
/// Nothing is read for it: a fault shows no values, a to-many that was not read no members. Values that are kept as
/// objects or in files are only shown to be there.
struct ObjectDescription {
    let object: NSManagedObject
    private static let unread = "<relationship fault>"
    private static let present = "(...not nil..)"

    var text: String {
        "<\(type(of: object)): \(ObjectIdentifier(object).hexadecimal)> (entity: \(object._state.info.entity.name); "
            + "id: <\(object.objectID)>; data: \(data))"
    }

    private var data: String {
        // Values belong to the context's queue, but any thread may print an object.
        guard object._state.identityMap?.context?.isHeldByCaller ?? true else { return "<of another queue>" }
        guard !object._state.isFault else { return "<fault>" }
        let lines = properties.map { "    \($0.name) = \(value(of: $0.name, $0));\n" }
        return "{\n\(lines.joined())}"
    }

    private var properties: [NSPropertyDescription] { object.entity.lineage.reversed().flatMap(\.properties) }

    private func value(of key: String, _ property: NSPropertyDescription) -> String {
        switch object.place(of: key) {
        case .slot(let slot): value(at: slot)
        case .toMany(let index): members(at: index)
        case .fetched: "<fetched property>"
        case nil: composite(key)
        }
    }

    private func composite(_ key: String) -> String {
        guard let place = object.compositePlace(of: key) else { return "nil" }
        let values = object.dictionary(of: place) { slot in isNull(slot) ? nil : value(at: slot) } ?? [:]
        return values.isEmpty
            ? "nil"
            : "{ \(values.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value);" }.joined(separator: " ")) }"
    }

    private func isNull(_ slot: Int) -> Bool {
        if case .null = object.source(slot) { return true }
        return false
    }

    private func value(at slot: Int) -> String {
        switch object.kind(slot) {
        case .toOne: return object.target(at: slot).map { "<\($0.objectID)>" } ?? "nil"
        case .transformable, .externalData: return isNull(slot) ? "nil" : Self.present
        case .data: return object.data(at: slot).map { "<\($0.count) bytes>" } ?? "nil"
        case .text: return object.text(at: slot)?.debugDescription ?? "nil"
        case .bool: return object.bits(at: slot).map { $0 != 0 ? "true" : "false" } ?? "nil"
        case .int, .double, .float, .date, .uuid, .uri, .decimal, .entityTag: break
        }
        let value = object.value(at: slot)
        // Foundation traps when it prints NaN and infinities as a date.
        if case .date(let seconds) = value, !(seconds.magnitude < 1e11) { return "\(seconds) seconds since 2001" }
        return value.object.map { "\($0)" } ?? "nil"
    }

    private func members(at index: Int) -> String {
        let name = object.relationship(toMany: index).name
        guard !object.hasFault(forRelationshipNamed: name) else { return Self.unread }
        return "(\(object.members(at: index).map { "<\($0.objectID)>" }.joined(separator: ", ")))"
    }
}
