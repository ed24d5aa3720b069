// <entity> with its constraints and indexes.

import CoreDataValues

/// Reads one entity. A value used once.
struct EntityReader {
    private let element: XMLElement
    private let fields: Fields
    private let log: WarningLog
    private var entity = EntityDraft(name: "")
    /// Legacy indexes have no name; they get the names that Xcode gives when it writes them anew.
    private var compoundIndexes: [FetchIndex] = []

    init(_ element: XMLElement, log: WarningLog) {
        self.element = element
        self.log = log
        fields = Fields(element, entity: element.shownName, log: log)
    }

    func read() throws(SchemaError) -> EntityDraft {
        var copy = self
        try copy.readFields()
        for child in element.children { try copy.readChild(child) }
        copy.nameCompoundIndexes()
        return copy.entity
    }

    private mutating func readFields() throws(SchemaError) {
        entity.name = try fields.required("name")
        entity.location = element.location
        entity.className = fields.name("representedClassName")
        entity.parentName = fields.name("parentEntity")
        entity.isAbstract = try fields.flag("isAbstract")
        entity.codeGeneration = fields.name("codeGenerationType")
        entity.renamingIdentifier = fields.renamingIdentifier()
        entity.versionHashModifier = fields.name("versionHashModifier")
        fields.ignore("syncable")
        fields.finish()
    }

    private mutating func readChild(_ child: XMLElement) throws(SchemaError) {
        switch child.name {
        case "attribute":
            entity.attributes.append(try AttributeReader(child, entity: entity.name, log: log).read())
        case "relationship":
            entity.relationships.append(try RelationshipReader.read(child, entity: entity.name, log: log))
        case "fetchedProperty":
            entity.fetchedProperties.append(
                try FetchRequestReader.readProperty(child, entity: entity.name, log: log))
        case "fetchIndex": entity.indexes.append(try readIndex(child))
        case "uniquenessConstraints": try readConstraints(child)
        case "compoundIndexes": try readCompoundIndexes(child)
        case "userInfo": try UserInfoReader.read(child, of: fields, into: &entity.userInfo)
        default: fields.warnOfUnknown(child)
        }
    }

    private func fields(of element: XMLElement) -> Fields { Fields(element, entity: entity.name, log: log) }

    /// The children of that name; others are warned of.
    private func children(_ name: String, of element: XMLElement) -> [XMLElement] {
        let fields = fields(of: element)
        fields.finish()
        for child in element.children where child.name != name { fields.warnOfUnknown(child) }
        return element.children.filter { $0.name == name }
    }

    private func values(_ name: String, of element: XMLElement) throws(SchemaError) -> [String] {
        var values: [String] = []
        for child in children(name, of: element) {
            let fields = fields(of: child)
            values.append(try fields.required("value"))
            fields.finish()
        }
        return values
    }

    private mutating func readConstraints(_ element: XMLElement) throws(SchemaError) {
        for child in children("uniquenessConstraint", of: element) {
            entity.uniquenessConstraints.append(try values("constraint", of: child))
            entity.constraintLocations.append(child.location)
        }
    }

    private mutating func readCompoundIndexes(_ element: XMLElement) throws(SchemaError) {
        for child in children("compoundIndex", of: element) {
            let elements = try values("index", of: child).map { FetchIndex.Element(property: $0) }
            compoundIndexes.append(FetchIndex(name: "", elements: elements, location: child.location))
        }
    }

    private mutating func nameCompoundIndexes() {
        var used = Set(entity.indexes.map(\.name))
        for index in compoundIndexes {
            var named = index
            var number = 0
            repeat {
                named.name = number == 0 ? "compoundIndex" : "compoundIndex\(number)"
                number += 1
            } while !used.insert(named.name).inserted
            entity.indexes.append(named)
        }
    }

    private func readIndex(_ element: XMLElement) throws(SchemaError) -> FetchIndex {
        let fields = fields(of: element)
        var index = FetchIndex(name: try fields.required("name"), elements: [], location: element.location)
        index.partialPredicate = fields.name("partialIndexPredicate")
        fields.finish()
        for child in element.children {
            if child.name == "fetchIndexElement" {
                index.elements.append(try readIndexElement(child))
            } else {
                fields.warnOfUnknown(child)
            }
        }
        return index
    }

    private func readIndexElement(_ element: XMLElement) throws(SchemaError) -> FetchIndex.Element {
        let fields = fields(of: element)
        var part = FetchIndex.Element(
            property: fields.name("property"), expression: fields.name("expression"))
        if part.property == nil, part.expression == nil {
            throw fields.error(
                "<fetchIndexElement> has neither property nor expression. Add one", at: element.location)
        }
        if let type = fields.attribute("expressionType") {
            fields.warn(
                "expressionType=\"\(type.value)\" has no effect: the store takes the type of the expression",
                type)
        }
        if let type = fields.attribute("type") {
            switch type.value {
            case "Binary": part.isRTree = false
            case "RTree": part.isRTree = true
            default: throw fields.malformed(type, "is neither Binary nor RTree")
            }
        }
        if let order = fields.attribute("order") {
            switch order.value {
            case "ascending": part.isAscending = true
            case "descending": part.isAscending = false
            default: throw fields.malformed(order, "is neither ascending nor descending")
            }
        }
        fields.finish()
        return part
    }
}

extension Fields {
    /// Xcode writes `elementID`, other tools `renamingIdentifier`.
    func renamingIdentifier() -> String? {
        let (written, other) = (name("elementID"), name("renamingIdentifier"))
        return written ?? other
    }
}
