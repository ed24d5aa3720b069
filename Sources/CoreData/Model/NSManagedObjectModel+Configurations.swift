// The configurations of a model: named subsets of its entities.

import CoreDataValues
import Foundation

extension NSManagedObjectModel {
    /// The name that model files give to the configuration of all entities.
    static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    /// Entity names by configuration, as they are now; an entity that left the model leaves its
    /// configurations. Setting drops names that no entity has.
    var configurationNames: [String: [String]] {
        get { configurationMembers.mapValues { $0.filter { $0.model === self }.compactMap(\.name) } }
        set {
            let byName = entitiesByName
            configurationMembers = newValue.mapValues { $0.compactMap { byName[$0] } }
        }
    }

    /// The names of the configurations, without the default one, in the order of the names.
    public var configurations: [String] { configurationMembers.keys.sorted() }

    /// The entities of a configuration, all for nil; nil when there is no configuration of that name.
    public func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration, configuration != Self.defaultConfigurationName else { return entities }
        return configurationMembers[configuration]?.filter { $0.model === self }
    }

    /// Makes or replaces a configuration. Naming an entity of another model is a misuse.
    public func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        requireEditable("configurations")
        for entity in entities where entity.model !== self {
            misuse(
                "The configuration '\(configuration)' cannot hold the entity '\(entity.name ?? "")', "
                    + "which is not of this model. Add it to the model's `entities` first.")
        }
        configurationMembers[configuration] = entities
    }
}
