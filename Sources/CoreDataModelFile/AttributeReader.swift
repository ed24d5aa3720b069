// <attribute> of an entity or a composite.

import CoreDataValues
import Foundation

/// Reads one attribute. A value used once.
struct AttributeReader {
    private let element: XMLElement
    private let fields: Fields
    private let values: AttributeValues
    private var attribute = Attribute(name: "", type: .undefined)

    init(_ element: XMLElement, entity: String, log: WarningLog) {
        self.element = element
        fields = Fields(element, entity: entity, property: element.shownName, log: log)
        values = AttributeValues(fields: fields)
    }

    func read() throws(SchemaError) -> Attribute {
        var copy = self
        try copy.readType()
        try copy.readFlags()
        try copy.readDerivation()
        try copy.readDefault()
        try copy.readBounds()
        fields.finish()
        for child in element.children {
            if child.name == "userInfo" {
                try UserInfoReader.read(child, of: fields, into: &copy.attribute.userInfo)
            } else {
                fields.warnOfUnknown(child)
            }
        }
        return copy.attribute
    }

    private mutating func readType() throws(SchemaError) {
        attribute.name = try fields.required("name")
        attribute.location = element.location
        attribute.compositeName = fields.name("composite")
        guard let text = fields.attribute("attributeType") else { return }  // absent means Undefined
        guard let type = AttributeType.allCases.first(where: { $0.modelName == text.value }) else {
            let known = AttributeType.allCases.map(\.modelName).joined(separator: ", ")
            throw fields.malformed(text, "is no attribute type; the types are \(known)")
        }
        attribute.type = type
    }

    private mutating func readFlags() throws(SchemaError) {
        attribute.isOptional = try fields.flag("optional")
        attribute.isTransient = try fields.flag("transient")
        attribute.isIndexed = try fields.flag("indexed")
        attribute.allowsExternalBinaryDataStorage = try fields.flag("allowsExternalBinaryDataStorage")
        attribute.preservesValueInHistoryOnDeletion = try fields.flag("preserveAfterDeletion")
        attribute.allowsCloudEncryption = try fields.flag("allowsCloudEncryption")
        attribute.isIndexedBySpotlight = try fields.flag("spotlightIndexingEnabled")
        attribute.isStoredInExternalRecord = try fields.flag("storedInTruthFile")
        attribute.usesScalarValueType = try fields.optionalFlag("usesScalarValueType")
        attribute.valueTransformerName = fields.name("valueTransformerName")
        attribute.customClassName = fields.name("customClassName")
        attribute.renamingIdentifier = fields.renamingIdentifier()
        attribute.versionHashModifier = fields.name("versionHashModifier")
        fields.ignore("syncable")
    }

    private mutating func readDerivation() throws(SchemaError) {
        let expression = fields.attribute("derivationExpression")
        guard try fields.flag("derived") else {
            if let expression {
                fields.warn(
                    "derivationExpression has no effect: the attribute is not marked derived=\"YES\"",
                    expression)
            }
            return
        }
        guard let expression, !expression.value.isEmpty else {
            throw fields.error(
                "“\(fields.entity ?? "").\(attribute.name)” is derived and has no derivationExpression. Add it",
                at: expression?.location ?? element.location)
        }
        attribute.derivationExpression = expression.value
        attribute.isReadOnly = true
    }

    private mutating func readDefault() throws(SchemaError) {
        let interval = fields.attribute("defaultDateTimeInterval")
        if let seconds = try fields.seconds("defaultDateTimeInterval") {
            if attribute.type == .date {
                attribute.defaultValue = .date(seconds)
            } else {
                fields.warn(
                    "defaultDateTimeInterval has no effect on a \(attribute.type.modelName)", interval)
            }
        }
        guard let text = fields.attribute("defaultValueString") else { return }
        guard let value = try values.value(of: text, for: attribute.type) else { return }
        attribute.defaultValue = value
    }

    private mutating func readBounds() throws(SchemaError) {
        attribute.pattern = fields.name("regularExpressionString")
        let (low, high) = (fields.attribute("minValueString"), fields.attribute("maxValueString"))
        if attribute.type == .string {
            attribute.minimumLength = try low.flatMap(values.length)
            attribute.maximumLength = try high.flatMap(values.length)
        } else {
            attribute.minimum = try low.flatMap { bound throws(SchemaError) in
                try values.bound(bound, for: attribute.type)
            }
            attribute.maximum = try high.flatMap { bound throws(SchemaError) in
                try values.bound(bound, for: attribute.type)
            }
        }
        let (first, last) = (fields.attribute("minDateTimeInterval"), fields.attribute("maxDateTimeInterval"))
        let (start, end) = (
            try fields.seconds("minDateTimeInterval"), try fields.seconds("maxDateTimeInterval")
        )
        if attribute.type == .date {
            attribute.minimum = start.map(Value.date)
            attribute.maximum = end.map(Value.date)
        } else {
            for field in [first, last].compactMap({ $0 }) {
                fields.warn("\(field.name) has no effect on a \(attribute.type.modelName)", field)
            }
        }
    }
}
