// The attributes of one element, taken one by one, so that what nobody takes is noticed.

import CoreDataValues

/// Collects what is tolerated while a file is read.
final class WarningLog {
    var warnings: [SchemaWarning] = []

    func add(_ message: String, entity: String? = nil, property: String? = nil, at location: SourceLocation) {
        warnings.append(SchemaWarning(message, entity: entity, property: property, location: location))
    }
}

/// Reads the attributes of one element by name. `finish()` warns of all that were not asked for.
final class Fields {
    let element: XMLElement
    let entity: String?
    let property: String?
    let log: WarningLog
    /// Which of the element's attributes somebody has asked for.
    private var taken: [Bool]

    init(_ element: XMLElement, entity: String? = nil, property: String? = nil, log: WarningLog) {
        self.element = element
        self.entity = entity
        self.property = property
        self.log = log
        taken = Array(repeating: false, count: element.attributes.count)
    }

    /// The attribute itself, nil when absent.
    func attribute(_ name: String) -> XMLAttribute? {
        guard let place = element.attributes.firstIndex(where: { $0.name == name }) else { return nil }
        taken[place] = true
        return element.attributes[place]
    }

    /// The text as it stands, nil when absent.
    func text(_ name: String) -> String? { attribute(name)?.value }

    /// The text, nil when absent or empty: Xcode writes both for "none".
    func name(_ name: String) -> String? {
        guard let text = text(name), !text.isEmpty else { return nil }
        return text
    }

    /// - Throws: `SchemaError` when the attribute is absent or empty.
    func required(_ name: String) throws(SchemaError) -> String {
        if let text = self.name(name) { return text }
        guard let attribute = attribute(name) else {
            throw error("<\(element.name)> has no \(name). Add it", at: element.location)
        }
        throw error("\(name) of <\(element.name)> is empty. Give it a value", at: attribute.location)
    }

    /// Absent means no.
    func flag(_ name: String) throws(SchemaError) -> Bool { try optionalFlag(name) ?? false }

    func optionalFlag(_ name: String) throws(SchemaError) -> Bool? {
        guard let attribute = attribute(name) else { return nil }
        switch attribute.value {
        case "YES": return true
        case "NO": return false
        default: throw malformed(attribute, "is neither YES nor NO")
        }
    }

    /// A whole number from 0 up, nil when absent or empty.
    func count(_ name: String) throws(SchemaError) -> Int? {
        guard let attribute = attribute(name), !attribute.value.isEmpty else { return nil }
        guard let number = Int32(attribute.value) else {
            throw malformed(attribute, "is no whole number of 32 bits")
        }
        guard number >= 0 else { throw malformed(attribute, "is below 0") }
        return Int(number)
    }

    /// A number of seconds, nil when absent or empty.
    func seconds(_ name: String) throws(SchemaError) -> Double? {
        guard let attribute = attribute(name), !attribute.value.isEmpty else { return nil }
        guard NumberText.isDecimal(attribute.value), let number = Double(attribute.value), number.isFinite
        else {
            throw malformed(attribute, "is no number of seconds since 2001-01-01")
        }
        return number
    }

    /// Attributes that say nothing about the model: tool versions, code generation, flags that are always the
    /// same.
    func ignore(_ names: String...) { for name in names { _ = attribute(name) } }

    /// Warns of the attributes that nobody asked for.
    func finish() {
        for (attribute, isTaken) in zip(element.attributes, taken) where !isTaken {
            warn(
                "\(attribute.name.shortened())=\"\(attribute.value.shortened())\" of <\(element.name)> is unknown and has no effect",
                attribute)
        }
    }

    /// Warns of a child that nobody reads.
    func warnOfUnknown(_ child: XMLElement) {
        log.add(
            "<\(child.name)> in <\(element.name)> is unknown and has no effect", entity: entity,
            property: property,
            at: child.location)
    }

    func warn(_ message: String, _ attribute: XMLAttribute? = nil) {
        log.add(message, entity: entity, property: property, at: attribute?.location ?? element.location)
    }

    func error(_ message: String, at location: SourceLocation) -> SchemaError {
        SchemaError(message, entity: entity, property: property, location: location)
    }

    func malformed(_ attribute: XMLAttribute, _ why: String) -> SchemaError {
        let subject = [entity, property].compactMap { $0 }.joined(separator: ".")
        let of = subject.isEmpty ? "<\(element.name)>" : "“\(subject)”"
        return error(
            "\(attribute.name)=\"\(attribute.value.shortened())\" of \(of) \(why). Correct it", at: attribute.location)
    }
}

/// How numbers are written in model files; Swift's own parsers also take hexadecimal and infinities.
enum NumberText {
    static func isDecimal(_ text: String) -> Bool {
        var rest = Substring(text)
        if let sign = rest.first, sign == "-" || sign == "+" { rest = rest.dropFirst() }
        let parts = rest.split(omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        guard let mantissa = parts.first, parts.count <= 2 else { return false }
        let digits = mantissa.split(separator: ".", omittingEmptySubsequences: false)
        guard digits.count <= 2, digits.allSatisfy(isDigits), digits.contains(where: { !$0.isEmpty }) else {
            return false
        }
        guard parts.count == 2 else { return true }
        let exponent = parts[1].first == "-" || parts[1].first == "+" ? parts[1].dropFirst() : parts[1]
        return !exponent.isEmpty && isDigits(exponent)
    }

    private static func isDigits(_ text: Substring) -> Bool { text.utf8.allSatisfy { 48...57 ~= $0 } }
}
