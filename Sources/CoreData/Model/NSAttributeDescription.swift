// An attribute of an entity.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One attribute: a property whose value is a number, a text, a date or the like.
open class NSAttributeDescription: NSPropertyDescription {
    /// What has no property of its own here: bounds, pattern, flags that only the model file knows.
    final var declared = Attribute(name: "", type: .undefined)
    private var programDefault: Any?
    private var hasProgramDefault = false

    public override init() { super.init() }

    open var attributeType: NSAttributeType {
        get { NSAttributeType(declared.type) }
        set {
            requireEditable("attributeType")
            declared.type = newValue.schemaType
        }
    }

    /// `attributeType` in its shorter spelling.
    public final var type: AttributeType {
        get { AttributeType(rawValue: attributeType) }
        set { attributeType = newValue.rawValue }
    }

    /// The class of the values: that of the type, unless a transformable attribute names its own.
    open var attributeValueClassName: String? {
        get { declared.customClassName ?? declared.type.valueClassName }
        set {
            requireEditable("attributeValueClassName")
            declared.customClassName = newValue
        }
    }

    /// The value of the attribute in a new object. Its type is checked when the model is used, not here,
    /// where the attribute's type may still be unset.
    open var defaultValue: Any? {
        get { hasProgramDefault ? programDefault : declared.defaultValue.object }
        set {
            requireEditable("defaultValue")
            programDefault = newValue
            hasProgramDefault = true
        }
    }

    open var valueTransformerName: String? {
        get { declared.valueTransformerName }
        set {
            requireEditable("valueTransformerName")
            declared.valueTransformerName = newValue
        }
    }

    /// Whether large data may be kept in a file beside the store.
    ///
    /// A SQLite store keeps values over 100 KB in `.<store>_SUPPORT/_EXTERNAL_DATA`, a file each, which is read whole whenever the
    /// value is asked for. Copy that folder with the store. A predicate can only compare such an attribute with nil.
    open var allowsExternalBinaryDataStorage: Bool {
        get { declared.allowsExternalBinaryDataStorage }
        set {
            requireEditable("allowsExternalBinaryDataStorage")
            declared.allowsExternalBinaryDataStorage = newValue
        }
    }

    /// A flag for tools; nothing is encrypted.
    open var allowsCloudEncryption: Bool {
        get { declared.allowsCloudEncryption }
        set {
            requireEditable("allowsCloudEncryption")
            declared.allowsCloudEncryption = newValue
        }
    }

    /// Whether the history keeps the value of a deleted object.
    open var preservesValueInHistoryOnDeletion: Bool {
        get { declared.preservesValueInHistoryOnDeletion }
        set {
            requireEditable("preservesValueInHistoryOnDeletion")
            declared.preservesValueInHistoryOnDeletion = newValue
        }
    }

    open override var versionHash: Data {
        guard let attribute = try? declaration(in: owner?.name ?? "") else { return Data() }
        return VersionHash.propertyHash(attribute)
    }

    open override var validationPredicates: [NSPredicate] {
        declared.hasRules ? declared.rules.map(\.predicate) : super.validationPredicates
    }
    open override var validationWarnings: [Any] {
        declared.hasRules ? declared.rules.map { NSNumber(value: $0.code) } : super.validationWarnings
    }

    open override func setValidationPredicates(
        _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
    ) {
        super.setValidationPredicates(validationPredicates, withValidationWarnings: validationWarnings)
        // The bounds of a model file are such predicates; who sets predicates replaces them all.
        declared.minimum = nil
        declared.maximum = nil
        declared.minimumLength = nil
        declared.maximumLength = nil
        declared.pattern = nil
    }

    override func emptyCopy() -> NSPropertyDescription { NSAttributeDescription() }

    override func copyProperties(of other: NSPropertyDescription) {
        super.copyProperties(of: other)
        guard let other = other as? NSAttributeDescription else { return }
        declared = other.declared
        programDefault = other.programDefault
        hasProgramDefault = other.hasProgramDefault
    }

    /// Fills the description from a declaration.
    func read(_ attribute: Attribute) {
        declared = attribute
        name = attribute.name
        isOptional = attribute.isOptional
        isTransient = attribute.isTransient
        isIndexed = attribute.isIndexed
        isIndexedBySpotlight = attribute.isIndexedBySpotlight
        isStoredInExternalRecord = attribute.isStoredInExternalRecord
        versionHashModifier = attribute.versionHashModifier
        declaredRenamingIdentifier = attribute.renamingIdentifier
        userInfo = attribute.userInfo
        location = attribute.location
    }

    /// The declaration that the description stands for.
    ///
    /// - Throws: `SchemaError` when the default value does not fit the attribute's type.
    func declaration(in entity: String) throws(SchemaError) -> Attribute {
        var attribute = declared
        attribute.name = name
        attribute.isOptional = isOptional
        attribute.isTransient = isTransient
        attribute.isIndexed = isIndexed
        attribute.isIndexedBySpotlight = isIndexedBySpotlight
        attribute.isStoredInExternalRecord = isStoredInExternalRecord
        attribute.versionHashModifier = versionHashModifier
        attribute.renamingIdentifier = declaredRenamingIdentifier
        attribute.userInfo = textEntries(userInfo)
        attribute.location = location
        if hasProgramDefault, declared.type == .transformable {
            attribute.defaultValue = try transformedDefault(of: entity)
        } else if hasProgramDefault {
            do {
                attribute.defaultValue = try CoreData.value(
                    programDefault, as: declared.type, entity: entity, property: name)
            } catch {
                throw SchemaError(
                    "The default value does not fit. \(error.sentence)", entity: entity, property: name,
                    location: location)
            }
        }
        return attribute
    }
}

extension CoreDataValues.AttributeType {
    /// The class that holds values of the type; nil when the type does not say.
    var valueClassName: String? {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
        case .decimal: "NSDecimalNumber"
        case .string: "NSString"
        case .date: "NSDate"
        case .binary: "NSData"
        case .uuid: "NSUUID"
        case .uri: "NSURL"
        case .objectID: "NSManagedObjectID"
        case .composite: "NSDictionary"
        case .undefined, .transformable: nil
        }
    }
}

extension NSAttributeDescription {
    /// A program's default for an attribute whose values are objects: the archive of it, as a store would have it.
    ///
    /// - Throws: `SchemaError` for a value that the attribute's transformer refuses.
    fileprivate func transformedDefault(of entity: String) throws(SchemaError) -> Value {
        guard let value = KeyValue.unwrapped(defaultValue) else { return .null }
        do {
            var attribute = declared
            attribute.name = name
            return .data(try Transformation(attribute, of: entity).data(of: value))
        } catch {
            let sentence = (error as? CocoaError)?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(error)"
            throw SchemaError(
                "The default value does not fit. \(sentence)", entity: entity, property: name, location: location)
        }
    }
}
