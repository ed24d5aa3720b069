// Composite attributes: dictionaries over the slots of their elements.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObject: KeyPathOwner {
    final func compositePlace(of key: String) -> CompositePlace? {
        _state.info.entity.composites.isEmpty ? nil : _state.info.entity.composites[key]
    }

    package final var mayOwnKeyPaths: Bool { !_state.info.schema.composites.isEmpty }

    /// Whether a key path like `location.latitude` names a composite's element, which has a slot or place of its own.
    package final func owns(keyPath: String) -> Bool {
        !_state.info.entity.composites.isEmpty && keyPath.contains(".")
            && (place(of: keyPath) != nil || compositePlace(of: keyPath) != nil)
    }

    /// The values of a composite's elements, by name; nil if none has a value.
    final func dictionary(of composite: CompositePlace, committed: Bool = false) -> [String: Any]? {
        dictionary(of: composite) { committed ? committedAny(at: $0) : anyValue(.slot($0)) }
    }

    /// The values of a composite's elements, by name, from values that the caller knows by slot.
    final func dictionary(of composite: CompositePlace, _ value: (Int) -> Any?) -> [String: Any]? {
        var values: [String: Any] = [:]
        for element in composite.elements {
            switch element.content {
            case .slot(let slot): values[element.name] = value(slot)
            case .composite(let inner): values[element.name] = dictionary(of: inner, value)
            }
        }
        return values.isEmpty ? nil : values
    }

    /// The last read or saved value of an attribute slot.
    final func committedAny(at slot: Int) -> Any? {
        kind(slot) == .transformable ? committedLive(at: slot) : committedValue(at: slot).object
    }

    /// Sets all elements; those that the dictionary leaves out become nil.
    ///
    /// - Parameter write: called with each element's slot and value.
    final func setDictionary(_ value: Any?, of composite: CompositePlace, _ write: (Int, Any?) -> Void) {
        let entries = entries(value, of: composite)
        for name in entries.keys where composite.element(named: name) == nil {
            misuse(
                "\(entity.name ?? "").\(composite.path) has no element \(name). Its elements are "
                    + composite.elements.map(\.name).joined(separator: ", ") + ".")
        }
        for element in composite.elements {
            let part = entries[element.name] ?? nil
            switch element.content {
            case .slot(let slot): write(slot, part)
            case .composite(let inner): setDictionary(part, of: inner, write)
            }
        }
    }

    private func entries(_ value: Any?, of composite: CompositePlace) -> [String: Any?] {
        switch KeyValue.unwrapped(value) {
        case nil: return [:]
        case let entries as [String: Any]: return entries
        case .some(let other):
            misuse(
                "\(entity.name ?? "").\(composite.path) is a composite attribute and was given \(type(of: other)). Give a "
                    + "dictionary of its elements.")
        }
    }

    // MARK: Validation

    /// Violations of what the model requires of composites as a whole.
    final func compositeFlaws() -> [(key: String, sentence: String)] {
        var flaws: [(key: String, sentence: String)] = []
        for (path, composite) in _state.info.entity.composites.sorted(by: { $0.key < $1.key }) {
            guard !composite.isTransient else { continue }
            let isEmpty = composite.slots.allSatisfy { isNull($0) }
            if isEmpty, !composite.isOptional, isAnchored(path) {
                let isNamed = composite.slots.contains { _state.info.entity.slots[$0].isRequired }
                if !isNamed, !composite.slots.isEmpty {
                    flaws.append((path, "must have a value; set it before saving"))
                }
            }
            for slot in composite.required where !isEmpty && isNull(slot) {
                flaws.append(
                    (
                        _state.info.entity.slots[slot].name,
                        "must have a value where “\(path)” has one; set it before saving"
                    ))
            }
        }
        return flaws
    }

    private func isNull(_ slot: Int) -> Bool { if case .null = source(slot) { true } else { false } }

    /// Whether all composites around this one must have a value too.
    private func isAnchored(_ path: String) -> Bool {
        var rest = path[...]
        while let dot = rest.lastIndex(of: ".") {
            rest = rest[..<dot]
            if _state.info.entity.composites[String(rest)]?.isOptional != false { return false }
        }
        return true
    }
}

extension Entity {
    /// A slot of each composite that a save validates as a whole.
    var compositesToCheck: [Int] {
        composites.values.filter { !$0.isTransient && (!$0.isOptional || !$0.required.isEmpty) }.compactMap(
            \.slots.first)
    }
}
