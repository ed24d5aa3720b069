// A fetch request that a program put into a model.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// A fetch request that a program put into a model.
struct RequestArchive: Codable {
    private var template: FetchTemplate
    private let sort: [SortTerm]
    private let offset: Int
    private let prefetching: [String]?

    /// - Throws: for a request without entity, and for a predicate or a sort order that no value can say.
    init(_ request: NSFetchRequest<any NSFetchRequestResult>, name: String) throws {
        template = try FetchTemplate(request, name: name)
        template.predicate = try request.predicate?.tree().predicateFormat
        sort = try (request.sortDescriptors ?? []).map { try $0.term() }
        offset = request.fetchOffset
        prefetching = request.relationshipKeyPathsForPrefetching
    }

    func request(in model: NSManagedObjectModel?) throws -> NSFetchRequest<any NSFetchRequestResult> {
        let request = try template.request(in: model)
        if !sort.isEmpty { request.sortDescriptors = sort.map { NSSortDescriptor.made(of: $0) } }
        request.fetchOffset = offset
        request.relationshipKeyPathsForPrefetching = prefetching
        return request
    }
}
