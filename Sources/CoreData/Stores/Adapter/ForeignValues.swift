// Values between rows and the code of another's store.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One entity's values as other people's stores give and take them.
struct ForeignValues {
    let schema: Schema
    let entity: Entity

    /// Bytes of an attribute that allows external storage stand behind this tag in a row.
    private static let inlineTag: UInt8 = 1

    /// The row value of a slot, made of what a store gives for its property's name: of an element it is in the dictionary of its
    /// composite.
    ///
    /// - Throws: 134060 for a value that the attribute cannot hold.
    func value(slot: Int, _ given: (String) -> Any?) throws -> Value {
        let path = entity.slots[slot].name
        guard !entity.composites.isEmpty else { return try value(given(path), slot: slot) }
        let names = path.split(separator: ".").map(String.init)
        var found = KeyValue.unwrapped(given(names[0]))
        for name in names.dropFirst() {
            guard let composite = found, !(composite is NSNull) else { return .null }
            guard let elements = composite as? [String: Any] else {
                throw misfit("A composite is a dictionary of its elements, not \(type(of: composite)).", path)
            }
            found = KeyValue.unwrapped(elements[name])
        }
        return try value(found, slot: slot)
    }

    private func misfit(_ sentence: String, _ property: String) -> StoreError {
        StoreError(
            134060, "A store gave a value that does not fit. \(sentence)", entity: entity.name, property: property)
    }

    private func value(_ any: Any?, slot: Int) throws -> Value {
        let property = entity.slots[slot]
        guard let any, !(any is NSNull), let attribute = property.attribute else { return .null }
        if attribute.type == .transformable {
            do { return .data(try Transformation(attribute, of: entity.name).data(of: any)) } catch let error
                as CocoaError
            {
                throw misfit(error.localizedDescription, attribute.name)
            }
        }
        do {
            let value = try CoreData.value(
                any, as: attribute.type, entity: entity.name, property: attribute.name)
            guard property.kind == .externalData, case .data(let data) = value else { return value }
            return .data(Data([ForeignValues.inlineTag]) + data)
        } catch { throw misfit(error.sentence, attribute.name) }
    }

    /// A row value as an object's overlay holds it.
    func plain(_ value: Value, slot: Int) -> Value {
        guard entity.slots[slot].kind == .externalData, case .data(let data) = value,
            data.first == ForeignValues.inlineTag
        else { return value }
        return .data(Data(data.dropFirst()))
    }

    /// Writes a to-one and its tag.
    func point(_ values: inout [Value], _ relationship: ResolvedRelationship, at target: RowKey?) {
        guard let slot = relationship.slot else { return }
        values[slot] = target.map { .int($0.number) } ?? .null
        if relationship.hasEntityTag { values[slot + 1] = target.map { .int(Int64($0.entity.number)) } ?? .null }
    }

    /// The slot of each to-one.
    var toOnes: [ResolvedRelationship] {
        entity.relationships.map { schema[$0] }.filter { !$0.isToMany }
    }
}
