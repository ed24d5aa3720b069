// How transformable attributes of random models keep their values.

import Foundation

import CoreData

/// Lists of texts behind a byte that is another one each time: equal values have different data, so each row's value has to be made.
final class SaltedWords: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? {
        guard let words = value as? [String], let data = try? JSONEncoder().encode(words) else { return nil }
        return Data([UInt8.random(in: 0...255)]) + data
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).flatMap { try? JSONDecoder().decode([String].self, from: $0.dropFirst()) }
    }

    /// This one, and one that gives equal data for equal values.
    static func register() { _ = registered }

    private static let registered: Void = {
        ValueTransformer.setValueTransformer(SaltedWords(), forName: NSValueTransformerName("AgreementSalted"))
        ValueTransformer.setValueTransformer(
            CodableTransformer<[String]>(), forName: NSValueTransformerName("AgreementWords"))
    }()
}
