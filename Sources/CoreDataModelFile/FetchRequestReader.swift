// <fetchRequest>, as a template of the model or inside a <fetchedProperty>.

import CoreDataValues

/// Reads fetch requests. What is absent has the value that `NSFetchRequest` begins with.
enum FetchRequestReader {
    static func read(_ element: XMLElement, entity: String? = nil, property: String? = nil, log: WarningLog)
        throws(SchemaError) -> FetchTemplate
    {
        let fields = Fields(element, entity: entity, property: property, log: log)
        var request = FetchTemplate(
            name: try fields.required("name"), entityName: try fields.required("entity"))
        request.location = element.location
        request.predicate = fields.name("predicateString")
        request.resultType = try resultType(fields)
        request.fetchLimit = try fields.count("fetchLimit") ?? 0
        request.fetchBatchSize = try fields.count("fetchBatchSize") ?? 0
        request.includesSubentities = try fields.optionalFlag("includeSubentities") ?? true
        request.includesPropertyValues = try fields.optionalFlag("includePropertyValues") ?? true
        request.includesPendingChanges = try fields.optionalFlag("includesPendingChanges") ?? true
        request.returnsObjectsAsFaults = try fields.optionalFlag("returnObjectsAsFaults") ?? true
        request.returnsDistinctResults = try fields.flag("returnDistinctResults")
        fields.finish()
        for child in element.children { fields.warnOfUnknown(child) }
        return request
    }

    static func readProperty(_ element: XMLElement, entity: String, log: WarningLog) throws(SchemaError)
        -> FetchedProperty
    {
        let fields = Fields(element, entity: entity, property: element.shownName, log: log)
        let name = try fields.required("name")
        let isOptional = try fields.flag("optional")
        fields.ignore("syncable")
        fields.finish()
        let requests = element.children.filter { $0.name == "fetchRequest" }
        guard let first = requests.first, requests.count == 1 else {
            throw fields.error(
                "the fetched property “\(entity).\(name)” holds \(requests.count) fetch requests. It needs one",
                at: element.location)
        }
        var fetched = FetchedProperty(
            name: name, request: try read(first, entity: entity, property: name, log: log))
        fetched.isOptional = isOptional
        fetched.location = element.location
        for child in element.children where child.name != "fetchRequest" {
            if child.name == "userInfo" {
                try UserInfoReader.read(child, of: fields, into: &fetched.userInfo)
            } else {
                fields.warnOfUnknown(child)
            }
        }
        return fetched
    }

    private static func resultType(_ fields: Fields) throws(SchemaError) -> Int {
        guard let type = fields.attribute("resultType"), !type.value.isEmpty else { return 0 }
        guard let number = Int(type.value), [0, 1, 2, 4].contains(number) else {
            throw fields.malformed(
                type, "is no result type: 0 objects, 1 object IDs, 2 dictionaries, 4 a count")
        }
        return number
    }
}
