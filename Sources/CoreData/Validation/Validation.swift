// The validation of objects before they are written.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The validation rules of the model. Throws a single error as it is, several as a 1560 with all of them.
enum Validation {
    enum Occasion { case insert, update, delete }

    static func check(_ object: NSManagedObject, for occasion: Occasion) throws {
        if occasion == .delete { return try checkDeletion(object) }
        let info = object._state.info
        if info.validatesByKey.load(ordering: .relaxed) { return try checkByKey(object, info) }
        let isSound = isComplete(object, info) && !holdsNaN(object, info)
        if isSound, info.hasNoRules { return }
        var errors: [any Error] = []
        if !isSound {
            checkPresence(object, info, &errors)
            for slot in info.plainReals { checkValue(object, slot, &errors) }
        }
        for slot in info.checkedSlots { checkValue(object, slot, &errors) }
        for relationship in info.boundedRelationships { checkCount(object, relationship, &errors) }
        for rule in info.rules {
            let value = rule.value(of: object)
            for complaint in rule.complaints(about: value) { errors.append(error(complaint, object, rule.key, value)) }
        }
        for flaw in info.entity.composites.isEmpty ? [] : object.compositeFlaws() {
            errors.append(error(Complaint(code: 1570, sentence: flaw.sentence), object, flaw.key, nil))
        }
        try throwing(errors)
    }

    /// Whether all required values are there, by one AND for each mask word.
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
        for slot in info.requiredTransients {
            if case .null = object.source(slot) { return false }
        }
        return true
    }

    /// Whether a changed value is NaN; stored ones cannot be.
    private static func holdsNaN(_ object: NSManagedObject, _ info: EntityInfo) -> Bool {
        guard let overlay = object._state.overlay else { return false }
        for slot in info.plainReals where overlay.isPresent(slot) && !overlay.isNull(slot) {
            if overlay.pointer(slot, Double.self).pointee.isNaN { return true }
        }
        return false
    }

    static let missing = "must have a value; set it before saving"

    private static func checkPresence(_ object: NSManagedObject, _ info: EntityInfo, _ errors: inout [any Error]) {
        for (slot, property) in info.entity.slots.enumerated() where info.needsValue(slot) {
            if case .null = object.source(slot) {
                errors.append(error(Complaint(code: 1570, sentence: missing), object, property.name, nil))
            }
        }
    }

    static func checkValue(_ object: NSManagedObject, _ slot: Int, _ errors: inout [any Error]) {
        let info = object._state.info
        guard let rule = info.valueRules[slot] else { return }
        let value = object.value(at: slot)
        guard !value.isNull else { return }
        // Core Data's files may hold the text NaN; an unchanged one is accepted.
        if case .decimal(let number) = value, number.isNaN, object._state.overlay?.isPresent(slot) != true { return }
        for complaint in rule.complaints(about: value) {
            errors.append(error(complaint, object, info.entity.slots[slot].name, printable(value)))
        }
    }

    /// The value for error descriptions: some dates as seconds, as Foundation traps when it prints them.
    static func printable(_ value: Value) -> Any? {
        if case .date(let seconds) = value, !(seconds.magnitude < 1e11) { return seconds }
        return value.object
    }

    static func error(_ complaint: Complaint, _ object: NSManagedObject, _ key: String, _ value: Any?) -> CocoaError {
        var info: [String: Any] = [NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: key]
        info[NSValidationValueErrorKey] = value
        info[NSValidationPredicateErrorKey] = complaint.predicate
        return .coreData(complaint.code, "\(object.entity.name ?? "").\(key) \(complaint.sentence).", info)
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
        var seen: Set<String> = []
        let sentences = errors.map { ($0 as? CocoaError)?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\($0)" }
            .filter { seen.insert($0).inserted }
        let rest = sentences.count > 3 ? ["And \(sentences.count - 3) other complaints."] : []
        throw CocoaError.coreData(
            1560, "\(errors.count) values cannot be saved: " + (sentences.prefix(3) + rest).joined(separator: " "),
            [NSDetailedErrorsKey: errors])
    }
}
