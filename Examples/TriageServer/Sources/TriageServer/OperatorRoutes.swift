// What operators and their machines ask: is it well, how much does it do, what is it about.

import CoreData
import Hummingbird

struct OperatorRoutes: Sendable {
    let container: NSPersistentContainer
    let metrics: MetricsText

    func add(to router: Router<BasicRequestContext>) {
        router.get("health", use: health)
        router.get("metrics") { _, _ in metrics.text }
        router.get("diagnostics") { _, _ in "\(container.diagnostics())\n" }
    }

    /// Answers 200 if the store answers, within the patience that it was opened with.
    @Sendable func health(_ request: Request, _ context: BasicRequestContext) async throws -> HTTPResponse.Status {
        _ = try await container.read { context in try Injury.count(in: context) }
        return .ok
    }
}
