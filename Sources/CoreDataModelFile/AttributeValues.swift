// Defaults and bounds: from the text of a model file to values.

import CoreDataValues
import Foundation

/// Turns texts into values of an attribute's type.
///
/// Xcode keeps the old text when a type is changed, so that models in use have `0.0` and `NO` for integers,
/// and texts where none can stand; these are read with a warning. What has no meaning is an error.
struct AttributeValues {
    let fields: Fields

    /// The value of `defaultValueString`; nil when the type takes none, which is warned of.
    func value(of text: XMLAttribute, for type: AttributeType) throws(SchemaError) -> Value? {
        if type != .string, text.value.allSatisfy(\.isWhitespace) {
            fields.warn("the empty \(text.name) of a \(type.modelName) is read as none", text)
            return nil
        }
        switch type {
        case .integer16, .integer32, .integer64: return .int(try integer(text, for: type))
        case .boolean: return .bool(try boolean(text))
        case .decimal: return .decimal(try decimal(text))
        case .double: return .double(try number(text))
        case .float: return .double(Double(Float(try number(text))))
        case .string: return .text(text.value)
        case .uuid:
            guard let uuid = UUID(uuidString: text.value) else { throw fields.malformed(text, "is no UUID") }
            return .uuid(uuid)
        case .uri:
            guard URL(string: text.value) != nil else { throw fields.malformed(text, "is no URL") }
            return .uri(text.value)
        case .binary: return .data(Data(text.value.utf8))
        // The object itself: which bytes it is stored as, its transformer says.
        case .transformable: return .text(text.value)
        case .date, .undefined, .objectID, .composite:
            fields.warn("\(text.name)=\"\(text.value)\" has no effect on a \(type.modelName)", text)
            return nil
        }
    }

    /// The bound of a number; nil when the type takes none, which is warned of.
    func bound(_ text: XMLAttribute, for type: AttributeType) throws(SchemaError) -> Value? {
        if text.value.isEmpty { return nil }
        switch type {
        case .integer16, .integer32, .integer64:
            if let number = Int64(text.value) { return .int(number) }
            return .double(try number(text))
        case .decimal: return .decimal(try decimal(text))
        case .double: return .double(try number(text))
        // As the values that it bounds: the Float 0.7 lies below the Double.
        case .float: return .double(Double(Float(try number(text))))
        case .string, .boolean, .date, .binary, .uuid, .uri, .transformable, .undefined, .objectID,
            .composite:
            fields.warn("\(text.name)=\"\(text.value)\" has no effect on a \(type.modelName)", text)
            return nil
        }
    }

    /// The bound of a string's length.
    func length(_ text: XMLAttribute) throws(SchemaError) -> Int? {
        if text.value.isEmpty { return nil }
        guard let length = Int32(text.value), length >= 0 else {
            throw fields.malformed(text, "is no length of a String, which is a whole number from 0 up")
        }
        return Int(length)
    }

    private func integer(_ text: XMLAttribute, for type: AttributeType) throws(SchemaError) -> Int64 {
        var value = Int64(text.value)
        if value == nil, let number = Double(text.value), NumberText.isDecimal(text.value) {
            guard let whole = Int64(exactly: number) else {
                throw fields.malformed(text, "is no whole number")
            }
            fields.warn("\(text.name)=\"\(text.value)\" of a \(type.modelName) is read as \(whole)", text)
            value = whole
        }
        if value == nil, text.value == "NO" || text.value == "YES" {
            value = text.value == "YES" ? 1 : 0
            fields.warn(
                "\(text.name)=\"\(text.value)\" of a \(type.modelName) is read as \(value ?? 0)", text)
        }
        guard let value else { throw fields.malformed(text, "is no \(type.modelName)") }
        guard type.accepts(.int(value)) else {
            throw fields.malformed(text, "is out of the range of \(type.modelName)")
        }
        return value
    }

    private func boolean(_ text: XMLAttribute) throws(SchemaError) -> Bool {
        switch text.value {
        case "YES", "1", "true": return true
        case "NO", "0", "false": return false
        default: break
        }
        guard NumberText.isDecimal(text.value), let number = Double(text.value) else {
            throw fields.malformed(text, "is no Boolean, which is YES or NO")
        }
        fields.warn(
            "\(text.name)=\"\(text.value)\" of a Boolean is read as \(number == 0 ? "NO" : "YES")", text)
        return number != 0
    }

    private func decimal(_ text: XMLAttribute) throws(SchemaError) -> Decimal {
        guard NumberText.isDecimal(text.value),
            let number = Decimal(string: text.value, locale: Locale(identifier: "en_US_POSIX")), !number.isNaN
        else { throw fields.malformed(text, "is no decimal number") }
        return number
    }

    private func number(_ text: XMLAttribute) throws(SchemaError) -> Double {
        guard NumberText.isDecimal(text.value), let number = Double(text.value), number.isFinite else {
            throw fields.malformed(text, "is no number")
        }
        return number
    }
}
