// The fetch requests that a model keeps under names.

import CoreDataValues
import Foundation

extension NSManagedObjectModel {
    /// The stored fetch requests, as values.
    package var fetchTemplates: [FetchTemplate] { templates }

    package func fetchTemplate(forName name: String) -> FetchTemplate? { templates.first { $0.name == name } }

    /// Stores, replaces or, with nil, removes the template of a name.
    package func setFetchTemplate(_ template: FetchTemplate?, forName name: String) {
        requireEditable("fetchRequestTemplatesByName")
        templates.removeAll { $0.name == name }
        if var template {
            template.name = name
            templates.append(template)
        }
    }
}
