// The accessors of one attribute.

import CoreDataValues

/// How one property is read and written.
struct Accessors {
    let name: String
    let type: String
    let get: String
    /// nil for what cannot be written.
    let set: String?

    func lines(_ access: String) -> [String] {
        let head = "\(access)var \(SwiftName.quoted(name)): \(type) {"
        guard let set else { return [head.dropLast() + "{ \(get) }"] }
        return [head, "    get { \(get) }", "    set { \(set) }", "}"]
    }
}

/// Makes the accessors of attributes.
struct AttributeText {
    let plan: ClassPlan
    let style: GenerationOptions.Style
    let types: TypeNames

    func accessors(of attribute: Attribute) -> Accessors {
        guard case .slot(let slot)? = plan.entity.places[attribute.name] else { return composite(attribute) }
        if style == .swift, let name = attribute.userInfo["enum"], !name.isEmpty,
            let made = enumeration(attribute, slot, name)
        {
            return made
        }
        if let custom = objectAccessors(attribute, slot) { return custom }
        let made = style == .xcode ? asXcode(attribute, slot) : asSwift(attribute, slot)
        return attribute.isDerived && style == .swift
            ? Accessors(name: made.name, type: made.type, get: made.get, set: nil) : made
    }

    /// One that has no slot of its own.
    private func composite(_ attribute: Attribute) -> Accessors {
        let key = Self.literal(attribute.name)
        return Accessors(
            name: attribute.name, type: "[\(types["String"]): Any]?",
            get: "value(forKey: \(key)) as? [\(types["String"]): Any]",
            set: "setValue(newValue, forKey: \(key))")
    }

    /// Values that are kept as objects.
    private func objectAccessors(_ attribute: Attribute, _ slot: Int) -> Accessors? {
        guard SlotKind(attribute) == .transformable else { return nil }
        let type: String
        switch attribute.type {
        case .objectID: type = types["NSManagedObjectID"]
        default: type = Self.customClass(attribute) ?? types["NSObject"]
        }
        let get = type == types["NSObject"] ? "_object(\(slot))" : "_transformable(\(slot)) as? \(type)"
        return Accessors(name: attribute.name, type: type + "?", get: get, set: "_setTransformable(\(slot), newValue)")
    }

    /// The class of a transformable's values; the module before it is that of the app that the model comes from.
    static func customClass(_ attribute: Attribute) -> String? {
        guard attribute.type == .transformable, let text = attribute.customClassName, let last = text.last, last != "."
        else { return nil }
        guard text.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }) else { return text }
        return text.split(separator: ".").last.map(String.init)
    }

    private func enumeration(_ attribute: Attribute, _ slot: Int, _ name: String) -> Accessors? {
        let isNumber = SlotKind(attribute) == .int
        guard isNumber || attribute.type == .string else { return nil }
        let set = attribute.isDerived ? nil : "_setEnumeration(\(slot), newValue)"
        let preset: String? =
            switch attribute.defaultValue {
            case .int(let number) where isNumber: "\(number)"
            case .text(let text) where !isNumber: Self.literal(text)
            default: nil
            }
        guard !attribute.isOptional, let preset else {
            return Accessors(name: attribute.name, type: name + "?", get: "_enumeration(\(slot))", set: set)
        }
        return Accessors(name: attribute.name, type: name, get: "_enumeration(\(slot), default: \(preset))", set: set)
    }

    // MARK: As Xcode

    private func asXcode(_ attribute: Attribute, _ slot: Int) -> Accessors {
        let isScalar = attribute.usesScalarValueType == true
        switch attribute.type {
        case .integer16, .integer32, .integer64, .double, .float, .boolean:
            guard isScalar else { return plain(attribute, types["NSNumber"] + "?", "number", slot) }
            return scalar(attribute, slot)
        case .date where isScalar: return plain(attribute, types["TimeInterval"], "double", slot)
        case .decimal: return plain(attribute, types["NSDecimalNumber"] + "?", "decimalNumber", slot)
        case .string, .date, .binary, .uuid, .uri, .undefined, .transformable, .objectID, .composite:
            return optional(attribute, slot)
        }
    }

    private func plain(_ attribute: Attribute, _ type: String, _ word: String, _ slot: Int) -> Accessors {
        Accessors(
            name: attribute.name, type: type, get: "_\(word)(\(slot))",
            set: "_set\(SwiftName.capitalized(word))(\(slot), newValue)")
    }

    /// A number or a Boolean; 0 and false for nil.
    private func scalar(_ attribute: Attribute, _ slot: Int) -> Accessors {
        switch attribute.type {
        case .integer16, .integer32:
            let type = types[attribute.type == .integer16 ? "Int16" : "Int32"]
            return Accessors(
                name: attribute.name, type: type, get: "\(type)(truncatingIfNeeded: _int(\(slot)))",
                set: "_setInt(\(slot), \(types["Int64"])(newValue))")
        case .float:
            return Accessors(
                name: attribute.name, type: types["Float"], get: "\(types["Float"])(_double(\(slot)))",
                set: "_setDouble(\(slot), \(types["Double"])(newValue))")
        case .integer64: return plain(attribute, types["Int64"], "int", slot)
        case .boolean: return plain(attribute, types["Bool"], "bool", slot)
        default: return plain(attribute, types["Double"], "double", slot)
        }
    }

    // MARK: As Swift

    private func asSwift(_ attribute: Attribute, _ slot: Int) -> Accessors {
        switch attribute.type {
        case .integer16, .integer32, .integer64, .double, .float, .boolean:
            return attribute.isOptional ? optional(attribute, slot) : scalar(attribute, slot)
        case .decimal, .string, .date, .binary, .uuid, .uri, .undefined, .transformable, .objectID, .composite:
            let made = optional(attribute, slot)
            guard !attribute.isOptional else { return made }
            return Accessors(
                name: made.name, type: String(made.type.dropLast()), get: "\(made.get) ?? \(empty(attribute.type))",
                set: made.set)
        }
    }

    /// What a required attribute reads as before it is set.
    private func empty(_ type: AttributeType) -> String {
        switch type {
        case .string: "\"\""
        case .date: ".distantPast"
        case .binary: "\(types["Data"])()"
        case .uuid: "NSManagedObject._noUUID"
        case .uri: "NSManagedObject._noURL"
        default: "0"
        }
    }

    /// One whose nil is told.
    private func optional(_ attribute: Attribute, _ slot: Int) -> Accessors {
        let name = attribute.name
        switch attribute.type {
        case .integer16, .integer32:
            let type = types[attribute.type == .integer16 ? "Int16" : "Int32"]
            return Accessors(
                name: name, type: type + "?", get: "_optionalInt(\(slot)).map { \(type)(truncatingIfNeeded: $0) }",
                set: "_setInt(\(slot), newValue.map { \(types["Int64"])($0) })")
        case .integer64:
            return Accessors(
                name: name, type: types["Int64"] + "?", get: "_optionalInt(\(slot))", set: "_setInt(\(slot), newValue)")
        case .double:
            return Accessors(
                name: name, type: types["Double"] + "?", get: "_optionalDouble(\(slot))",
                set: "_setDouble(\(slot), newValue)")
        case .float:
            return Accessors(
                name: name, type: types["Float"] + "?", get: "_optionalDouble(\(slot)).map { \(types["Float"])($0) }",
                set: "_setDouble(\(slot), newValue.map { \(types["Double"])($0) })")
        case .boolean:
            return Accessors(
                name: name, type: types["Bool"] + "?", get: "_optionalInt(\(slot)).map { $0 != 0 }",
                set: "_setBool(\(slot), newValue)")
        case .decimal: return plain(attribute, types["Decimal"] + "?", "decimal", slot)
        case .string: return plain(attribute, types["String"] + "?", "text", slot)
        case .date: return plain(attribute, types["Date"] + "?", "date", slot)
        case .binary: return plain(attribute, types["Data"] + "?", "data", slot)
        case .uuid: return special(attribute, types["UUID"], "UUID", "_uuid", slot)
        case .uri: return special(attribute, types["URL"], "URL", "_url", slot)
        case .undefined, .transformable, .objectID, .composite: return composite(attribute)
        }
    }

    private func special(_ attribute: Attribute, _ type: String, _ word: String, _ getter: String, _ slot: Int)
        -> Accessors
    {
        Accessors(
            name: attribute.name, type: type + "?", get: "\(getter)(\(slot))", set: "_set\(word)(\(slot), newValue)")
    }

    /// A text as Swift source has it.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\0": result += "\\0"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
