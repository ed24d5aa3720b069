// What operators and their machines ask: is it well, how much does it do, what is it about.

import CoreData
import Hummingbird

struct OperatorRoutes: Sendable {
    let container: NSPersistentContainer
    let metrics: MetricsText

    func add(to router: Router<BasicRequestContext>) {
        // Whether the process runs: it asks for nothing, so that it answers however many requests wait for the store.
        router.get("alive") { _, _ in HTTPResponse.Status.ok }
        router.get("health", use: health)
        router.get("metrics") { _, _ in metrics.text }
        router.get("diagnostics") { _, _ in "\(container.diagnostics())\n" }
        router.get("openapi.json", use: description)
    }

    /// Answers 200 if the store answers within the patience that it was opened with, else 503: the server takes no more than it has.
    @Sendable func health(_ request: Request, _ context: BasicRequestContext) async throws -> HTTPResponse.Status {
        _ = try await container.read { context in try Injury.count(in: context) }
        return .ok
    }

    /// What the routes take and answer, as it lies among the resources.
    @Sendable func description(_ request: Request, _ context: BasicRequestContext) throws -> Response {
        guard let file = Bundle.module.url(forResource: "openapi", withExtension: "json") else {
            throw HTTPError(.notFound)
        }
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: try Data(contentsOf: file))))
    }
}
