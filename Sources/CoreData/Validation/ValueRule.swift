// What one attribute of a model allows.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// A broken rule of the model.
struct Complaint {
    let code: Int
    /// The rest of a sentence that begins with the property's name.
    let sentence: String
    /// The rule as a predicate over the value, if it can be one.
    var predicate: NSPredicate?
}

/// The validation rules of one attribute.
final class ValueRule: Sendable {
    private let attribute: Attribute
    /// The pattern, to match whole texts. `SchemaCheck` has refused invalid ones.
    private let expression: NSRegularExpression?

    init(_ attribute: Attribute) {
        self.attribute = attribute
        expression = attribute.pattern.flatMap { try? NSRegularExpression(pattern: "\\A(?:\($0))\\z") }
    }

    /// Returns a complaint for every rule that a value breaks.
    func complaints(about value: Value) -> [Complaint] {
        switch value {
        case .int(let number): return integer(number)
        case .double(let number): return real(number, low: 1620, high: 1610)
        case .date(let seconds): return date(seconds)
        case .decimal(let number):
            if number.isNaN { return [Complaint(code: 1550, sentence: "is not a number, which no store can keep")] }
            return decimal(number)
        case .text(let text): return length(of: text) + pattern(text)
        case .uri(let text):
            return URL(string: text) == nil ? [Complaint(code: 1690, sentence: "is no URI: “\(text)”")] : []
        case .null, .bool, .data, .uuid, .key: return []
        }
    }

    // MARK: Numbers and dates

    private func integer(_ number: Int64) -> [Complaint] {
        let range: ClosedRange<Int64>? =
            switch attribute.type {
            case .integer16: Int64(Int16.min)...Int64(Int16.max)
            case .integer32: Int64(Int32.min)...Int64(Int32.max)
            case .undefined, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary, .uuid, .uri,
                .transformable, .objectID, .composite:
                nil
            }
        if let range, number > range.upperBound {
            return [Complaint(code: 1610, sentence: "is \(number), more than \(attribute.type.modelName) holds")]
        }
        if let range, number < range.lowerBound {
            return [Complaint(code: 1620, sentence: "is \(number), less than \(attribute.type.modelName) holds")]
        }
        // Integer bounds are compared as such: beyond 2^53 a Double would round them.
        if case .int(let minimum)? = attribute.minimum, number < minimum { return [tooSmall(1620, minimum)] }
        if case .int(let maximum)? = attribute.maximum, number > maximum { return [tooLarge(1610, maximum)] }
        return bounded(Double(number), low: 1620, high: 1610)
    }

    private func real(_ number: Double, low: Int, high: Int) -> [Complaint] {
        if number.isNaN {
            return [Complaint(code: 1550, sentence: "is not a number (NaN), which SQLite would keep as NULL")]
        }
        return bounded(number, low: low, high: high)
    }

    private func date(_ seconds: Double) -> [Complaint] {
        if seconds.isNaN {
            return [Complaint(code: 1650, sentence: "is no date (NaN), which SQLite would keep as NULL")]
        }
        return bounded(seconds, low: 1640, high: 1630)
    }

    private func decimal(_ number: Decimal) -> [Complaint] {
        if case .decimal(let minimum)? = attribute.minimum, number < minimum { return [tooSmall(1620, minimum)] }
        if case .decimal(let maximum)? = attribute.maximum, number > maximum { return [tooLarge(1610, maximum)] }
        return bounded(number.nearestDouble, low: 1620, high: 1610)
    }

    private func bounded(_ number: Double, low: Int, high: Int) -> [Complaint] {
        if let minimum = bound(attribute.minimum), number < minimum { return [tooSmall(low, shown(minimum))] }
        if let maximum = bound(attribute.maximum), number > maximum { return [tooLarge(high, shown(maximum))] }
        return []
    }

    /// A date's bound as a date, if Foundation can print it.
    private func shown(_ bound: Double) -> Any {
        attribute.type == .date && bound.magnitude < 1e11 ? Date(timeIntervalSinceReferenceDate: bound) as Any : bound
    }

    private func tooSmall(_ code: Int, _ minimum: Any) -> Complaint {
        Complaint(
            code: code, sentence: "is \(code == 1640 ? "before" : "less than") the model's minimum \(minimum)",
            predicate: DeclaredRule.minimum(minimum, ofDate: code == 1640).predicate)
    }

    private func tooLarge(_ code: Int, _ maximum: Any) -> Complaint {
        Complaint(
            code: code, sentence: "is \(code == 1630 ? "after" : "more than") the model's maximum \(maximum)",
            predicate: DeclaredRule.maximum(maximum, ofDate: code == 1630).predicate)
    }

    private func bound(_ value: Value?) -> Double? {
        switch value {
        case .int(let number): Double(number)
        case .double(let number), .date(let number): number
        case .decimal(let number): number.nearestDouble
        case .null, .bool, .text, .data, .uuid, .uri, .key, nil: nil
        }
    }

    // MARK: Texts

    private func length(of text: String) -> [Complaint] {
        let count = text.utf16.count
        if let minimum = attribute.minimumLength, count < minimum {
            return [
                Complaint(
                    code: 1670, sentence: "has \(count) characters and needs \(minimum)",
                    predicate: DeclaredRule.minimumLength(minimum).predicate)
            ]
        }
        if let maximum = attribute.maximumLength, count > maximum {
            return [
                Complaint(
                    code: 1660, sentence: "has \(count) characters and may have \(maximum)",
                    predicate: DeclaredRule.maximumLength(maximum).predicate)
            ]
        }
        return []
    }

    private func pattern(_ text: String) -> [Complaint] {
        guard let pattern = attribute.pattern, let expression else { return [] }
        let whole = NSRange(location: 0, length: text.utf16.count)
        guard expression.firstMatch(in: text, range: whole) == nil else { return [] }
        return [
            Complaint(
                code: 1680, sentence: "does not match the model's pattern \(pattern)",
                predicate: DeclaredRule.pattern(pattern).predicate)
        ]
    }
}
