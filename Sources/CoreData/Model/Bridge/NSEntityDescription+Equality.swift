// When models and their parts are equal: when they say the same, as two that were loaded from one file.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSPropertyDescription {
    /// Whether both are the same kind of property of entities of one name, and declare the same. What cannot be declared, as a
    /// relationship without destination, is equal to nothing else.
    final func saysTheSame(as other: NSPropertyDescription) -> Bool {
        guard type(of: self) == type(of: other), name == other.name, owner?.name == other.owner?.name,
            let mine = declaredAlone, let theirs = other.declaredAlone
        else { return false }
        return mine == theirs && saysTheSameRules(as: other)
    }

    final func saysTheSameRules(as other: NSPropertyDescription) -> Bool {
        programPredicates.map(NSPropertyDescription.text) == other.programPredicates.map(NSPropertyDescription.text)
            && programWarnings.map { "\($0)" } == other.programWarnings.map { "\($0)" }
    }

    /// A predicate that no text can say is equal to itself.
    private static func text(_ predicate: NSPredicate) -> String {
        (try? predicate.tree().predicateFormat) ?? "\(ObjectIdentifier(predicate))"
    }

    private var declaredAlone: [EntityDraft]? {
        var alone = EntityDraft(name: "")
        var composites: [Composite] = []
        guard (try? NSEntityDescription().add(self, to: &alone, &composites)) != nil else { return nil }
        return [alone.unplaced]
            + composites.map { composite in
                var entity = EntityDraft(name: composite.name)
                entity.attributes = composite.unplaced.attributes
                return entity
            }
    }
}

extension NSEntityDescription {
    /// Whether both have one name, one parent's name and equal properties, indexes and constraints.
    final func saysTheSame(as other: NSEntityDescription) -> Bool {
        var composites: (mine: [Composite], theirs: [Composite]) = ([], [])
        guard name == other.name, let mine = try? declaration(&composites.mine),
            let theirs = try? other.declaration(&composites.theirs),
            mine.unplaced == theirs.unplaced, composites.mine.map(\.unplaced) == composites.theirs.map(\.unplaced)
        else { return false }
        return properties.sorted { $0.name < $1.name }.elementsEqual(other.properties.sorted { $0.name < $1.name }) {
            $0.saysTheSameRules(as: $1)
        }
    }
}

extension NSManagedObjectModel {
    /// Whether both have equal entities, configurations, request templates and version identifiers.
    final func saysTheSame(as other: NSManagedObjectModel) -> Bool {
        let theirs = other.entitiesByName
        return entities.count == other.entities.count && versionIdentifiers == other.versionIdentifiers
            && configurationNames.mapValues { $0.sorted() } == other.configurationNames.mapValues { $0.sorted() }
            && templatesByName == other.templatesByName && localizationDictionary == other.localizationDictionary
            && entities.allSatisfy { entity in theirs[entity.name ?? ""].map { entity.saysTheSame(as: $0) } ?? false }
    }

    private var templatesByName: [String: FetchTemplate] {
        Dictionary(templates.map { ($0.name, $0.unplaced) }, uniquingKeysWith: { first, _ in first })
    }
}
