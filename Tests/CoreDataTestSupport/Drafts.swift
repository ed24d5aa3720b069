// Models made in code, in few words.

import CoreData
import CoreDataValues

extension EntityDraft {
    package init(
        _ name: String, _ attributes: [Attribute] = [], _ relationships: [Relationship] = [], parent: String? = nil
    ) {
        self.init(name: name)
        (self.attributes, self.relationships, parentName) = (attributes, relationships, parent)
    }
}

extension SchemaDraft {
    package init(_ first: EntityDraft, _ others: EntityDraft...) {
        self.init()
        entities = [first] + others
    }
}

extension NSManagedObjectModel {
    package convenience init(_ first: EntityDraft, _ others: EntityDraft...) {
        var draft = SchemaDraft(first)
        draft.entities += others
        self.init(draft: draft)
    }
}
