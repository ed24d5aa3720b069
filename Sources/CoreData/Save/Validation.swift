// What every object must satisfy before it is written.

import CoreDataValues
import Foundation

/// The checks that the model asks for. One error is thrown as it is, several as 1560 with all of them.
enum Validation {
    enum Occasion { case insert, update, delete }

    static func check(_ object: NSManagedObject, for occasion: Occasion) throws {
        if occasion == .delete { return try checkDeletion(object) }
        let info = object._state.info
        let isSound = isComplete(object, info) && !holdsNaN(object, info)
        if isSound, info.checkedSlots.isEmpty, info.boundedRelationships.isEmpty { return }
        var errors: [any Error] = []
        if !isSound {
            checkPresence(object, info, &errors)
            for slot in info.plainReals { checkValue(object, slot, &errors) }
        }
        for slot in info.checkedSlots { checkValue(object, slot, &errors) }
        for relationship in info.boundedRelationships { checkCount(object, relationship, &errors) }
        for flaw in info.entity.composites.isEmpty ? [] : object.compositeFlaws() {
            errors.append(error(1570, object, flaw.key, nil, flaw.sentence))
        }
        try throwing(errors)
    }

    /// One AND a mask word: everything that must be there is.
    private static func isComplete(_ object: NSManagedObject, _ info: EntityInfo) -> Bool {
        let state = object._state
        for word in 0..<info.layout.maskWords {
            let required = info.required[word]
            if required == 0 { continue }
            let present = state.overlay?.presentMask(word) ?? 0
            let nonNull = state.overlay?.nonNullMask(word) ?? 0
            let saved = state.pointee.row.map { $0[-1 - word] } ?? 0
            if required & ~((present & nonNull) | (~present & saved)) != 0 { return false }
        }
        return true
    }

    /// Only changed values can be NaN: no store keeps one.
    private static func holdsNaN(_ object: NSManagedObject, _ info: EntityInfo) -> Bool {
        guard let overlay = object._state.overlay else { return false }
        for slot in info.plainReals where overlay.isPresent(slot) && !overlay.isNull(slot) {
            if overlay.pointer(slot, Double.self).pointee.isNaN { return true }
        }
        return false
    }

    private static func checkPresence(_ object: NSManagedObject, _ info: EntityInfo, _ errors: inout [any Error]) {
        for (slot, property) in info.entity.slots.enumerated() where property.isRequired {
            if case .null = object.source(slot) {
                errors.append(error(1570, object, property.name, nil, "must have a value; set it before saving"))
            }
        }
    }

    private static func checkValue(_ object: NSManagedObject, _ slot: Int, _ errors: inout [any Error]) {
        let property = object._state.info.entity.slots[slot]
        guard let attribute = property.attribute else { return }
        let value = object.value(at: slot)
        guard !value.isNull else { return }
        if let (code, sentence) = ValueRule(attribute).complaint(about: value) {
            var refused = object.value(forKey: attribute.name)
            // Foundation traps when it prints such a date, and errors get printed.
            if case .date(let seconds) = value, !(seconds.magnitude < 1e11) { refused = seconds }
            errors.append(error(code, object, attribute.name, refused, sentence))
        }
    }

    private static func checkCount(
        _ object: NSManagedObject, _ relationship: ResolvedRelationship, _ errors: inout [any Error]
    ) {
        guard let index = relationship.toManyIndex else { return }
        let description = relationship.description
        guard object.toManyState(index) != nil || object._state.has(.inserted) else { return }
        let count = object.members(at: index).count
        if count == 0, description.isOptional { return }
        if count == 0, description.minCount == 0 {
            errors.append(error(1570, object, description.name, nil, "must have at least one member"))
        } else if count < description.minCount {
            errors.append(
                error(1580, object, description.name, nil, "has \(count) members and needs \(description.minCount)"))
        } else if description.maxCount > 0, count > description.maxCount {
            errors.append(
                error(1590, object, description.name, nil, "has \(count) members and may have \(description.maxCount)"))
        }
    }

    /// A relationship with the rule deny must be empty when its object is deleted.
    private static func checkDeletion(_ object: NSManagedObject) throws {
        var errors: [any Error] = []
        for relationship in object._state.info.denying {
            let remaining = object.targets(of: relationship).filter { !$0._state.has([.deleted, .gone]) }
            if !remaining.isEmpty {
                errors.append(
                    error(
                        1600, object, relationship.name, nil,
                        "still has \(remaining.count) members, and its delete rule is deny"))
            }
        }
        try throwing(errors)
    }

    private static func error(
        _ code: Int, _ object: NSManagedObject, _ key: String, _ value: Any?, _ sentence: String
    ) -> CocoaError {
        var info: [String: Any] = [NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: key]
        info[NSValidationValueErrorKey] = value
        return .coreData(code, "\(object.entity.name ?? "").\(key) \(sentence).", info)
    }

    // MARK: Collecting

    static func collect(_ errors: inout [any Error], _ body: () throws -> Void) {
        do {
            try body()
        } catch let error as CocoaError where error.code.rawValue == 1560 {
            errors += error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? [error]
        } catch {
            errors.append(error)
        }
    }

    static func throwing(_ errors: [any Error]) throws {
        guard let first = errors.first else { return }
        guard errors.count > 1 else { throw first }
        let sentences = errors.prefix(3).map { ($0 as? CocoaError)?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\($0)" }
        throw CocoaError.coreData(
            1560, "\(errors.count) values cannot be saved: " + sentences.joined(separator: " "),
            [NSDetailedErrorsKey: errors])
    }
}

/// What one attribute allows.
struct ValueRule {
    private let attribute: Attribute
    init(_ attribute: Attribute) { self.attribute = attribute }

    /// The code and the rest of the sentence if the value is refused.
    func complaint(about value: Value) -> (Int, String)? {
        switch value {
        case .int(let number): return integer(number)
        case .double(let number): return real(number, low: 1620, high: 1610)
        case .date(let seconds): return real(seconds, low: 1640, high: 1630)
        case .decimal(let number):
            if number.isNaN { return (1550, "is not a number, which no store can keep") }
            return real(NSDecimalNumber(decimal: number).doubleValue, low: 1620, high: 1610)
        case .text(let text): return length(of: text)
        case .null, .bool, .data, .uuid, .uri, .key: return nil
        }
    }

    private func integer(_ number: Int64) -> (Int, String)? {
        let range: ClosedRange<Int64>? =
            switch attribute.type {
            case .integer16: Int64(Int16.min)...Int64(Int16.max)
            case .integer32: Int64(Int32.min)...Int64(Int32.max)
            default: nil
            }
        if let range, number > range.upperBound { return (1610, "is \(number), more than \(attribute.type.modelName) holds") }
        if let range, number < range.lowerBound { return (1620, "is \(number), less than \(attribute.type.modelName) holds") }
        return real(Double(number), low: 1620, high: 1610)
    }

    private func real(_ number: Double, low: Int, high: Int) -> (Int, String)? {
        if number.isNaN { return (1550, "is not a number (NaN), which SQLite would keep as NULL") }
        if let minimum = bound(attribute.minimum), number < minimum { return (low, "is less than the model's minimum \(minimum)") }
        if let maximum = bound(attribute.maximum), number > maximum { return (high, "is more than the model's maximum \(maximum)") }
        return nil
    }

    private func bound(_ value: Value?) -> Double? {
        switch value {
        case .int(let number): Double(number)
        case .double(let number), .date(let number): number
        case .decimal(let number): NSDecimalNumber(decimal: number).doubleValue
        case .null, .bool, .text, .data, .uuid, .uri, .key, nil: nil
        }
    }

    private func length(of text: String) -> (Int, String)? {
        if let minimum = attribute.minimumLength, text.utf16.count < minimum {
            return (1670, "has \(text.utf16.count) characters and needs \(minimum)")
        }
        if let maximum = attribute.maximumLength, text.utf16.count > maximum {
            return (1660, "has \(text.utf16.count) characters and may have \(maximum)")
        }
        guard let pattern = attribute.pattern else { return nil }
        let whole = NSRange(location: 0, length: text.utf16.count)
        guard let expression = try? NSRegularExpression(pattern: "^(?:\(pattern))$"),
            expression.firstMatch(in: text, range: whole) == nil
        else { return nil }
        return (1680, "does not match the model's pattern \(pattern)")
    }
}
