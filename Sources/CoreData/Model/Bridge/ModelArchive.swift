// Models and their parts in keyed archives: what they declare, as one value.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// What an archive holds of a model, of an entity alone (a draft with one entity), or of a property alone (an entity without name).
///
/// Text entries of user infos are kept. Relationships of an entity alone forget where they lead.
struct ModelArchive: Codable {
    var draft = SchemaDraft()
    /// Predicates that a program set, by entity and property.
    private var rules: [String: Rules] = [:]
    /// The requests of fetched properties, as programs set them.
    private var requests: [String: RequestArchive] = [:]
    private var templates: [String: RequestArchive] = [:]
    private var localization: [String: String]?
    private var expression: ComputedColumn?

    private struct Rules: Codable {
        let predicates: [String]
        let warnings: [String]
    }

    private struct ComputedColumn: Codable {
        let text: String?
        let type: UInt
    }

    /// - Throws: what is wrong with a model that contradicts itself, or a predicate that no text can say.
    init(_ model: NSManagedObjectModel) throws {
        draft = try model.draft()
        localization = model.localizationDictionary
        templates = try model.templateRequests.mapValues { try RequestArchive($0, name: "") }
        for entity in model.entities { try addRules(entity.properties, of: entity.name ?? "") }
    }

    init(_ entity: NSEntityDescription) throws {
        var declared = try entity.declaration(&draft.composites)
        declared.parentName = nil
        draft.entities = [declared]
        try addRules(entity.properties, of: declared.name)
    }

    init(_ property: NSPropertyDescription) throws {
        var alone = EntityDraft(name: "")
        if let computed = property as? NSExpressionDescription {
            _ = try computed.expression?.tree()
            expression = ComputedColumn(
                text: computed.expression?.description, type: computed.expressionResultType.rawValue)
            // No entity can declare it; what it has in common with others fits an attribute.
            let common = NSAttributeDescription()
            common.copyProperties(of: property)
            alone.attributes = [try common.declaration(in: "")]
        } else {
            try NSEntityDescription().add(property, to: &alone, &draft.composites)
        }
        draft.entities = [alone]
        try addRules([property], of: "")
    }

    private mutating func addRules(_ properties: [NSPropertyDescription], of entity: String) throws {
        for property in properties {
            let place = "\(entity).\(property.name)"
            if !property.programPredicates.isEmpty {
                rules[place] = Rules(
                    predicates: try property.programPredicates.map { try $0.tree().predicateFormat },
                    warnings: property.programWarnings.map { String(describing: $0) })
            }
            guard let request = (property as? NSFetchedPropertyDescription)?.request else { continue }
            requests[place] = try RequestArchive(request, name: place)
        }
    }

    // MARK: Reading

    /// The descriptions of the entities.
    ///
    /// - Throws: for a predicate text that cannot be read.
    func entities() throws -> [NSEntityDescription] {
        let entities = DraftReader(draft).entities()
        for entity in entities { try complete(entity.properties, of: entity.name ?? "") }
        return entities
    }

    /// The description of a property that was archived alone.
    ///
    /// - Throws: for a text of a predicate or an expression that cannot be read.
    func property() throws -> NSPropertyDescription? {
        let made = try entities().first?.properties.first
        guard let made, let expression else { return made }
        let computed = NSExpressionDescription()
        computed.copyProperties(of: made)
        computed.expressionResultType = NSAttributeType(rawValue: expression.type) ?? .undefinedAttributeType
        if let text = expression.text {
            _ = try FormatParser.expression(text)
            computed.expression = NSExpression(format: text)
        }
        return computed
    }

    /// Fills a new model.
    func fill(_ model: NSManagedObjectModel) throws {
        for entity in model.entities { try complete(entity.properties, of: entity.name ?? "") }
        model.localizationDictionary = localization
        model.templateRequests = try templates.mapValues { try $0.request(in: model) }
    }

    private func complete(_ properties: [NSPropertyDescription], of entity: String) throws {
        for property in properties {
            let place = "\(entity).\(property.name)"
            if let rules = rules[place] {
                property.setValidationPredicates(
                    try rules.predicates.map { try NSPredicate(parsing: $0) }, withValidationWarnings: rules.warnings)
            }
            guard let request = requests[place] else { continue }
            (property as? NSFetchedPropertyDescription)?.fetchRequest = try request.request(in: nil)
        }
    }
}

extension NSCoder {
    private static let key = "OpenCoreData"

    /// Encodes a value, or nothing if there is none; reading such an archive fails.
    func encode(_ value: (some Encodable)?) {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        if let value, let data = try? encoder.encode(value) { encode(data as NSData, forKey: NSCoder.key) }
    }

    func decode<Decoded: Decodable>(_ type: Decoded.Type) -> Decoded? {
        guard containsValue(forKey: NSCoder.key), let object = decodeObject(of: NSData.self, forKey: NSCoder.key) else {
            return nil
        }
        let data = object as Data
        // Foundation's reader would follow whatever they say.
        guard (try? PropertyList(data, .document(bytes: data.count))) != nil else { return nil }
        return try? PropertyListDecoder().decode(type, from: data)
    }
}
