// Values at the ends of what attributes can hold.

import CoreData
import Foundation

/// Gives each object of a tree another value of each attribute: the lowest, the highest, the one next to the lowest, and so on, so that no
/// uniqueness constraint is met where the type has as many values.
struct SampleValues {
    private static let longText = "Ö'\"; -- \u{1F9F5}\n" + String(repeating: "long ", count: 700)

    /// What may be set, the best first; for a model's own rules the first that satisfies them counts.
    ///
    /// - Parameter number: counts the objects of the tree.
    static func candidates(for attribute: NSAttributeDescription, _ number: Int) -> [Any] {
        if let composite = attribute as? NSCompositeAttributeDescription {
            let elements = composite.elements.compactMap { element in
                candidates(for: element, number).first.map { (element.name, $0) }
            }
            return [Dictionary(elements, uniquingKeysWith: { first, _ in first })]
        }
        let extremes = values(of: attribute, isHigh: number % 2 == 1, number / 2)
        return extremes + bounds(of: attribute, number) + [attribute.defaultValue].compactMap { $0 }
    }

    /// - Parameter step: how far from the end.
    private static func values(of attribute: NSAttributeDescription, isHigh: Bool, _ step: Int) -> [Any] {
        switch attribute.attributeType {
        case .integer16AttributeType: numbers(isHigh ? Int64(Int16.max) - Int64(step) : Int64(Int16.min) + Int64(step))
        case .integer32AttributeType: numbers(isHigh ? Int64(Int32.max) - Int64(step) : Int64(Int32.min) + Int64(step))
        case .integer64AttributeType: numbers(isHigh ? Int64.max - Int64(step) : Int64.min + Int64(step))
        case .booleanAttributeType: [isHigh]
        case .doubleAttributeType: reals(Double.greatestFiniteMagnitude, isHigh, step).map { $0 }
        case .floatAttributeType: reals(Double(Float.greatestFiniteMagnitude), isHigh, step).map { Float($0) }
        case .decimalAttributeType: decimals(isHigh, step)
        case .dateAttributeType:
            [(isHigh ? Date.distantFuture : Date.distantPast).addingTimeInterval(Double(isHigh ? -step : step))]
        case .stringAttributeType: texts(isHigh, step)
        case .UUIDAttributeType: [uuid(isHigh ? UInt8.max : 0, UInt8(truncatingIfNeeded: isHigh ? 255 - step : step))]
        case .URIAttributeType:
            [isHigh ? "https://example.org/\(String(repeating: "path/", count: 100))\(step)" : "a:\(step)"].compactMap(
                URL.init(string:))
        case .binaryDataAttributeType: [data(isHigh, step, isLarge: attribute.allowsExternalBinaryDataStorage)]
        case .transformableAttributeType: [transformed(attribute, isHigh, step)]
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: []
        }
    }

    private static func numbers(_ extreme: Int64) -> [Any] { [extreme] }

    private static func reals(_ greatest: Double, _ isHigh: Bool, _ step: Int) -> [Double] {
        [(isHigh ? greatest : -greatest) / Double(step + 1)]
    }

    private static func decimals(_ isHigh: Bool, _ step: Int) -> [Any] {
        [NSDecimalNumber(mantissa: UInt64(999_999_999_999_999 - step), exponent: -4, isNegative: !isHigh)]
    }

    private static func texts(_ isHigh: Bool, _ step: Int) -> [Any] {
        isHigh
            ? [longText + "\(step)", "text \(step)", "t\(step)"]
            : [step == 0 ? "" : "\(step)", "some text \(step)", "t\(step)"]
    }

    private static func uuid(_ byte: UInt8, _ last: UInt8) -> UUID {
        let b = byte
        return UUID(uuid: (b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, last))
    }

    private static func data(_ isHigh: Bool, _ step: Int, isLarge: Bool) -> Data {
        guard isHigh else { return Data(repeating: 0, count: step) }
        return Data((0..<(isLarge ? 150_000 : 1_000)).map { UInt8(truncatingIfNeeded: $0 &+ step) })
    }

    /// Texts go through the transformers of the library; of those that are the program's own only the bytes are known.
    private static func transformed(_ attribute: NSAttributeDescription, _ isHigh: Bool, _ step: Int) -> Any {
        let text = texts(isHigh, step)[0]
        guard let name = attribute.valueTransformerName, !StandInTransformer.isLibrarys(name) else { return text }
        StandInTransformer.stand(in: name)
        return data(isHigh, step, isLarge: false)
    }

    /// Where the model's rules set bounds: those, and what lies between.
    private static func bounds(of attribute: NSAttributeDescription, _ number: Int) -> [Any] {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            [Int64(number), 1, 0, -1, 10, 100, 1000].map { $0 as Int64 }
        case .doubleAttributeType: [Double(number), 1, 0, -1, 0.5, 10, 100]
        case .floatAttributeType: [Float(number), 1, 0, -1, 0.5, 10, 100]
        case .decimalAttributeType: [number, 1, 0, -1, 10, 100].map { NSDecimalNumber(value: $0) }
        case .dateAttributeType: [Date(timeIntervalSinceReferenceDate: Double(number)), Date()]
        case .stringAttributeType:
            [
                "x", "xx", "\(1000 + number)", "text\(number)", "t\(number)@example.org",
                String(repeating: "x", count: 40),
            ]
        case .booleanAttributeType: [true, false]
        case .UUIDAttributeType, .URIAttributeType, .binaryDataAttributeType, .transformableAttributeType,
            .undefinedAttributeType,
            .objectIDAttributeType, .compositeAttributeType:
            []
        }
    }
}

/// Stands in for a transformer of a program that is not here: its values are bytes, which stay as they are.
final class StandInTransformer: ValueTransformer {
    static func isLibrarys(_ name: String) -> Bool {
        [
            "NSUnarchiveFromData", "NSKeyedUnarchiveFromData", "NSSecureUnarchiveFromData",
            "NSSecureUnarchiveFromDataTransformer",
        ].contains(name)
    }

    static func stand(in name: String) {
        guard ValueTransformer(forName: NSValueTransformerName(name)) == nil else { return }
        ValueTransformer.setValueTransformer(StandInTransformer(), forName: NSValueTransformerName(name))
    }
}
