// The fetch requests that a model keeps under names.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObjectModel {
    /// The stored fetch request of a name, nil when there is none. A copy: changing it does not change the model.
    ///
    /// A request whose predicate has variables is completed by `fetchRequestFromTemplate(withName:substitutionVariables:)`.
    public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
        if let request = templateRequests[name] { return request.duplicate() }
        // Texts of model files were read when the model was loaded.
        return fetchTemplate(forName: name).flatMap { try? $0.request(in: self) }
    }

    /// The stored fetch request with values in the place of its predicate's variables.
    ///
    /// A variable without a value stays; fetching then throws and names it. `$person.name` takes the person's name now.
    public func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        guard let request = fetchRequestTemplate(forName: name) else { return nil }
        request.predicate = request.predicate?.withSubstitutionVariables(variables)
        return request
    }

    /// Stores, replaces or, with nil, removes a fetch request. A model in use cannot be changed.
    public func setFetchRequestTemplate(
        _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
    ) {
        guard let request = fetchRequestTemplate else { return setFetchTemplate(nil, forName: name) }
        do throws(SchemaError) {
            setFetchTemplate(try FetchTemplate(request, name: name), forName: name)
        } catch { misuse(error.message) }
        templateRequests[name] = request.duplicate()
    }

    /// Copies of all stored fetch requests.
    public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
        var requests: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
        for template in templates { requests[template.name] = fetchRequestTemplate(forName: template.name) }
        return requests
    }

    /// The stored fetch requests, as values.
    package var fetchTemplates: [FetchTemplate] { templates }

    package func fetchTemplate(forName name: String) -> FetchTemplate? { templates.first { $0.name == name } }

    /// Stores, replaces or, with nil, removes the template of a name.
    package func setFetchTemplate(_ template: FetchTemplate?, forName name: String) {
        requireEditable("fetchRequestTemplatesByName")
        templates.removeAll { $0.name == name }
        templateRequests[name] = nil
        if var template {
            template.name = name
            templates.append(template)
        }
    }
}
