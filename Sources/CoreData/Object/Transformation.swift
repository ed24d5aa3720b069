// How one attribute turns values into bytes and back.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// How one attribute turns values into bytes and back.
struct Transformation {
    private let attribute: Attribute
    private let entity: String

    /// nil for a slot without an attribute.
    init?(_ info: EntityInfo, _ slot: Int) {
        guard let attribute = info.entity.slots[slot].attribute else { return nil }
        self.attribute = attribute
        entity = info.entity.name
    }

    init(_ attribute: Attribute, of entity: String) {
        self.attribute = attribute
        self.entity = entity
    }

    /// Whether equal values have equal bytes.
    var isDeterministic: Bool { (try? transformer()).map { type(of: $0).givesEqualDataForEqualValues() } ?? false }

    /// Whether two values of the attribute are equal.
    static func areEqual(_ a: Any, _ b: Any) -> Bool {
        if let a = a as? NSObject, let b = b as? NSObject { return a.isEqual(b) }
        guard let a = a as? AnyHashable, let b = b as? AnyHashable else { return false }
        return a == b
    }

    private var title: String { "\(entity).\(attribute.name)" }

    func data(of value: Any) throws -> Data {
        let transformer = try transformer()
        let made =
            transformer is NSSecureUnarchiveFromDataTransformer
            ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
        if let data = made as? Data {
            // Bytes that could not be read again are not written.
            try requireMeasured(data, transformer)
            return data
        }
        let flaw = (transformer as? any ExplainingTransformer)?.flaw(of: value)
        throw failure(
            "The value of \(title) cannot be stored: \(type(of: transformer)) answered "
                + "\(made.map { "\(type(of: $0)) instead of data" } ?? "nothing") for a value of type \(type(of: value)). "
                + (flaw ?? "Give a value that the transformer knows, or correct the transformer."))
    }

    func value(of data: Data) throws -> Any {
        let transformer = try transformer()
        let isArchive = transformer is NSSecureUnarchiveFromDataTransformer
        guard isArchive || type(of: transformer).allowsReverseTransformation() else {
            throw failure(
                "\(title) cannot be read: \(type(of: transformer)) does not allow the reverse transformation.")
        }
        try requireMeasured(data, transformer)
        let made = isArchive ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
        if let made { return made }
        let flaw = (transformer as? any ExplainingTransformer)?.flaw(ofData: data)
        throw failure(
            "\(title) cannot be read: \(type(of: transformer)) makes nothing of the \(data.count) bytes in the store. "
                + (flaw ?? "Correct the transformer; the bytes are untouched."))
    }

    /// Refuses property lists that `PropertyList` does not accept: custom transformers mostly hand their bytes to
    /// Foundation, which trusts what a list says.
    private func requireMeasured(_ data: Data, _ transformer: ValueTransformer) throws {
        guard data.starts(with: PropertyList.binaryMark),
            type(of: transformer) != NSSecureUnarchiveFromDataTransformer.self
        else { return }
        do throws(ArchiveError) {
            _ = try PropertyList(data, .document(bytes: data.count))
        } catch { throw failure("\(title) is not handed to \(type(of: transformer)): \(error.sentence)") }
    }

    /// The transformer that the model names, else one for secure archives, which allows the class that the model names.
    private func transformer() throws -> ValueTransformer {
        guard let name = attribute.valueTransformerName, !name.isEmpty else {
            return NSSecureUnarchiveFromDataTransformer.allowing(valueClass.map { [$0] } ?? [])
        }
        if let found = ValueTransformer.registered(name) { return found }
        throw failure(
            "No value transformer is registered under the name \(name), which \(title) asks for. Call "
                + "ValueTransformer.setValueTransformer(_:forName:) before objects are read or saved.")
    }

    private var valueClass: AnyClass? {
        guard let name = attribute.customClassName, !name.isEmpty else { return nil }
        return ClassSearch.anyClass(named: name)
    }

    private func failure(_ sentence: String) -> CocoaError {
        .coreData(134060, sentence, [NSEntityNameErrorKey: entity, NSValidationKeyErrorKey: attribute.name])
    }
}
