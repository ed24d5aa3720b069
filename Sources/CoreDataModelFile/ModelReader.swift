// <model>: the root and what stands beside the entities.

import CoreDataValues

/// Reads one `contents` file into a draft. A value used once.
struct ModelReader {
    private let reader: XMLReader
    private let log = WarningLog()
    private var draft = SchemaDraft()

    /// - Throws: `SchemaError` for a file that is no XML.
    init(contents: [UInt8], path: String) throws(SchemaError) {
        reader = try XMLReader(contents, path: path)
    }

    /// *the root · each child · what was tolerated*
    func read() throws(SchemaError) -> SchemaDraft {
        var copy = self
        let root = try reader.root()
        try copy.readRoot(root)
        while let child = try reader.nextChild() { try copy.readChild(child, of: root) }
        for location in reader.strayText { log.add("text between the elements has no effect", at: location) }
        copy.draft.warnings = log.warnings
        return copy.draft
    }

    private mutating func readRoot(_ root: XMLElement) throws(SchemaError) {
        let fields = Fields(root, log: log)
        guard root.name == "model" else {
            throw fields.error(
                "the file is no model: its root is <\(root.name)> and not <model>", at: root.location)
        }
        draft.location = root.location
        if let type = fields.attribute("type"), type.value != "com.apple.IDECoreDataModeler.DataModel" {
            throw fields.malformed(type, "is not com.apple.IDECoreDataModeler.DataModel")
        }
        if let version = fields.attribute("documentVersion"), version.value != "1.0" {
            fields.warn("documentVersion=\"\(version.value)\" is read as 1.0", version)
        }
        fields.ignore(
            "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "name", "macOSVersion",
            "iOSVersion")
        fields.ignore("usedWithSwiftData")
        if let identifier = fields.text("userDefinedModelVersionIdentifier") {
            draft.versionIdentifiers = [identifier]
        }
        draft.sourceLanguage = fields.name("sourceLanguage")
        draft.usedWithCloudKit = try cloudKitFlag(fields)
        fields.finish()
    }

    /// Xcode writes YES, and at times `false`, here and nowhere else.
    private func cloudKitFlag(_ fields: Fields) throws(SchemaError) -> Bool {
        switch fields.text("usedWithCloudKit") {
        case "true": true
        case "false": false
        case nil, .some: try fields.flag("usedWithCloudKit")
        }
    }

    private mutating func readChild(_ child: XMLElement, of root: XMLElement) throws(SchemaError) {
        switch child.name {
        case "entity": draft.entities.append(try EntityReader(child, log: log).read())
        case "fetchRequest": draft.fetchTemplates.append(try FetchRequestReader.read(child, log: log))
        case "configuration": try readConfiguration(child)
        case "composite": draft.composites.append(try readComposite(child))
        case "elements": break  // where the editor draws the entities
        default: Fields(root, log: log).warnOfUnknown(child)
        }
    }

    private mutating func readConfiguration(_ element: XMLElement) throws(SchemaError) {
        let fields = Fields(element, log: log)
        let name = try fields.required("name")
        if try fields.flag("usedWithCloudKit") { draft.cloudKitConfigurations.append(name) }
        fields.finish()
        guard draft.configurations[name] == nil else {
            throw fields.error(
                "the configuration “\(name)” is declared twice. Rename or remove one", at: element.location)
        }
        var members: [String] = []
        for child in element.children {
            guard child.name == "memberEntity" else {
                fields.warnOfUnknown(child)
                continue
            }
            let member = Fields(child, log: log)
            members.append(try member.required("name"))
            member.finish()
        }
        draft.configurations[name] = members
        draft.configurationLocations[name] = element.location
    }

    private func readComposite(_ element: XMLElement) throws(SchemaError) -> Composite {
        let fields = Fields(element, entity: element.shownName, log: log)
        var composite = Composite(
            name: try fields.required("name"), attributes: [], location: element.location)
        fields.finish()
        for child in element.children {
            if child.name == "attribute" {
                composite.attributes.append(
                    try AttributeReader(child, entity: composite.name, log: log).read())
            } else {
                fields.warnOfUnknown(child)
            }
        }
        return composite
    }
}

extension XMLElement {
    /// The name attribute for messages, before it is known to be there.
    var shownName: String? { attributes.first { $0.name == "name" }?.value }
}

/// `<userInfo>`, which entities, attributes and relationships carry.
enum UserInfoReader {
    static func read(_ element: XMLElement, of owner: Fields, into info: inout [String: String])
        throws(SchemaError)
    {
        let fields = Fields(element, entity: owner.entity, property: owner.property, log: owner.log)
        fields.finish()
        for child in element.children {
            guard child.name == "entry" else {
                fields.warnOfUnknown(child)
                continue
            }
            let entry = Fields(child, entity: owner.entity, property: owner.property, log: owner.log)
            guard let key = entry.text("key") else {
                throw entry.error("<entry> has no key. Add it", at: child.location)
            }
            let value = entry.text("value") ?? ""
            entry.finish()
            if info.updateValue(value, forKey: key) != nil {
                entry.warn("the user info key “\(key)” occurs twice: the later value counts")
            }
        }
    }
}
