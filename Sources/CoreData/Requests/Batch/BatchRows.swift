// The rows of a batch insertion, made as the store asks for them.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// Hands out chunks of rows; a dictionary or an object at a time is in memory beside them.
final class BatchRows {
    private let info: EntityInfo
    private let values: BatchValues
    private let description: NSEntityDescription
    /// Gives one object its values; false at the end.
    private let fill: (NSManagedObject) throws -> Bool
    /// Whether it is told which values were given.
    private let tellsGiven: Bool
    private var isDone = false

    init(_ request: NSBatchInsertRequest, _ info: EntityInfo, tellsGiven: Bool) {
        self.info = info
        self.tellsGiven = tellsGiven
        description = info.description
        let values = BatchValues(info)
        self.values = values
        if let handler = request.managedObjectHandler {
            fill = { object in
                if handler(object) { return false }
                try BatchRows.check(object, values)
                return true
            }
        } else if let handler = request.dictionaryHandler {
            fill = { object in
                let dictionary = NSMutableDictionary()
                if handler(dictionary) { return false }
                for (key, value) in dictionary { try BatchRows.set(value, for: "\(key)", object, values) }
                return true
            }
        } else {
            var rest = (request.objectsToInsert ?? [])[...]
            fill = { object in
                guard let next = rest.popFirst() else { return false }
                for (key, value) in next { try BatchRows.set(value, for: key, object, values) }
                return true
            }
        }
    }

    /// - Throws: 134060 for a row with a key or a value that the entity cannot have.
    func next() throws -> NewRows? {
        guard !isDone else { return nil }
        var given: [[Int]] = []
        var packer = ObjectPacker<UInt16, Void>(room: RowChunk.maximumCount, first: RowChunk.maximumCount)
        while true {
            let object = info.classBinding.make(description)
            // A handler reads them, unless they could not be told from what it gives then.
            if !tellsGiven { object.setDefaults() }
            guard try fill(object) else {
                isDone = true
                break
            }
            if tellsGiven {
                given.append(givenSlots(of: object, like: given.last))
                object.setDefaults()
            }
            if packer.pack(object, as: info.number, key: 0, version: 1).isFull { break }
        }
        return packer.packed.first.map { NewRows($0.chunk, given: tellsGiven ? given : nil) }
    }

    /// One array for all rows of a run that are given the same.
    private func givenSlots(of object: NSManagedObject, like former: [Int]?) -> [Int] {
        guard let overlay = object._state.overlay else { return [] }
        let slots = info.entity.slots.indices.filter { overlay.isPresent($0) }
        return if let former, former == slots { former } else { slots }
    }

    private static func set(_ value: Any, for key: String, _ object: NSManagedObject, _ values: BatchValues) throws {
        if let composite = object._state.info.entity.composites[key] {
            guard let elements = value as? [String: Any] else {
                throw CocoaError.coreData(
                    134060, "A batch insertion gives the composite “\(key)” a \(type(of: value)); give a dictionary.")
            }
            for (name, element) in elements { try set(element, for: "\(composite.path).\(name)", object, values) }
            return
        }
        let slot = try values.slot(key)
        let property = object._state.info.entity.slots[slot]
        guard property.relationship == nil, !property.isTransient, property.attribute?.isDerived != true else {
            throw CocoaError.coreData(
                134060,
                "A batch insertion of \(object._state.info.entity.name) sets “\(key)”, which is no attribute that a program stores; leave it out."
            )
        }
        object.store(try values.value(value, at: slot), in: object._state.makeOverlay(), slot)
    }

    /// An object that a program was given may have come into relationships, which rows are not written with, and have values that no
    /// store keeps.
    private static func check(_ object: NSManagedObject, _ values: BatchValues) throws {
        let info = object._state.info
        for slot in values.checked where object._state.overlay?.isPresent(slot) == true {
            let value = object.value(at: slot)
            if value.isNaN { throw values.notANumber(value, at: slot) }
            // Told as of a dictionary.
            if case .int(let number) = value, values.isTooLarge(number, at: slot) {
                _ = try values.value(number, at: slot)
            }
        }
        if !info.transformables.isEmpty { try LiveValues.pack([object]) }
        let toOne = info.entity.slots.indices.first {
            info.kinds[$0] == .toOne && object._state.overlay?.isPresent($0) == true
        }
        var name = toOne.map { info.entity.slots[$0].name }
        object.forEachToMany { index, members in if members.isChanged { name = object.relationship(toMany: index).name }
        }
        guard let name else { return }
        throw CocoaError.coreData(
            134060,
            "A batch insertion of \(info.entity.name) sets the relationship “\(name)”; insert rows with attributes alone, or save objects."
        )
    }
}
