// <relationship>.

import CoreDataValues

/// Reads one relationship. `maxCount` decides between to-one and to-many; `toMany` counts only where it is
/// absent.
enum RelationshipReader {
    static func read(_ element: XMLElement, entity: String, log: WarningLog) throws(SchemaError)
        -> Relationship
    {
        let fields = Fields(element, entity: entity, property: element.shownName, log: log)
        var relationship = Relationship(
            name: try fields.required("name"), destinationName: try fields.required("destinationEntity"))
        relationship.location = element.location
        relationship.inverseName = fields.name("inverseName")
        relationship.inverseEntityName = fields.name("inverseEntity")
        if relationship.inverseName == nil, let entity = relationship.inverseEntityName {
            fields.warn("inverseEntity=\"\(entity)\" has no effect without an inverseName")
        }
        relationship.isOptional = try fields.flag("optional")
        relationship.isTransient = try fields.flag("transient")
        relationship.isOrdered = try fields.flag("ordered")
        relationship.isIndexed = try fields.flag("indexed")
        relationship.deleteRule = try deleteRule(fields)
        relationship.renamingIdentifier = fields.renamingIdentifier()
        relationship.versionHashModifier = fields.name("versionHashModifier")
        fields.ignore("syncable")
        try readCounts(fields, into: &relationship)
        fields.finish()
        for child in element.children {
            if child.name == "userInfo" {
                try UserInfoReader.read(child, of: fields, into: &relationship.userInfo)
            } else {
                fields.warnOfUnknown(child)
            }
        }
        return relationship
    }

    private static func readCounts(_ fields: Fields, into relationship: inout Relationship)
        throws(SchemaError)
    {
        let toMany = try fields.optionalFlag("toMany")
        relationship.minCount = try fields.count("minCount") ?? 0
        guard let maximum = try fields.count("maxCount") else {
            relationship.maxCount = toMany == true ? 0 : 1
            return
        }
        relationship.maxCount = maximum
        if (toMany ?? false) != (maximum != 1) {
            fields.warn(
                "maxCount=\"\(maximum)\" makes the relationship \(maximum == 1 ? "to-one" : "to-many"), "
                    + "whatever toMany says", fields.attribute("maxCount"))
        }
    }

    /// Absent is read as Nullify, which is what the editor begins with.
    private static func deleteRule(_ fields: Fields) throws(SchemaError) -> DeleteRule {
        guard let rule = fields.attribute("deletionRule") else { return .nullify }
        switch rule.value {
        case "No Action": return .noAction
        case "Nullify": return .nullify
        case "Cascade": return .cascade
        case "Deny": return .deny
        default:
            throw fields.malformed(
                rule, "is no deletion rule; the rules are Nullify, Cascade, Deny and No Action")
        }
    }
}
