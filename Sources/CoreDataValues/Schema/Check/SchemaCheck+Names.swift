// Property names that an object's own members have taken.

extension SchemaCheck {
    /// The class whose member without arguments a property of this name would hide; nil when the name is free.
    static func owner(ofMember name: String) -> String? {
        if objectMembers.contains(name) { return "NSObject" }
        return managedObjectMembers.contains(name) ? "NSManagedObject" : nil
    }

    private static let objectMembers: Set<String> = [
        "attributeKeys", "autoContentAccessingProxy", "autorelease", "class", "classCode", "classDescription",
        "classForArchiver", "classForCoder", "classForKeyedArchiver", "classForPortCoder", "className", "copy",
        "dealloc",
        "debugDescription", "description", "finalize", "hash", "init", "isProxy", "mutableCopy", "objectSpecifier",
        "observationInfo", "release", "retain", "retainCount", "scriptingProperties", "self", "superclass",
        "toManyRelationshipKeys", "toOneRelationshipKeys", "zone",
    ]

    private static let managedObjectMembers: Set<String> = [
        "awakeFromFetch", "awakeFromInsert", "changedValues", "changedValuesForCurrentEvent", "didSave",
        "didTurnIntoFault",
        "entity", "faultingState", "hasChanges", "hasPersistentChangedValues", "isDeleted", "isFault", "isInserted",
        "isUpdated", "managedObjectContext", "objectID", "prepareForDeletion", "validateForDelete", "validateForInsert",
        "validateForUpdate", "willSave", "willTurnIntoFault",
    ]
}
