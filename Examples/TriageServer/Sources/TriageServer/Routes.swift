// All routes of the server.

import CoreData
import Hummingbird

func router(container: NSPersistentContainer, metrics: MetricsText) -> Router<BasicRequestContext> {
    let router = Router()
    router.addMiddleware {
        TracingMiddleware()
        MetricsMiddleware()
        LogRequestsMiddleware(.debug)
        ProblemMiddleware()
    }
    CasualtyRoutes(container: container).add(to: router)
    StationRoutes(container: container).add(to: router)
    LiveRoutes(container: container).add(to: router)
    DraftRoutes(drafts: Drafts(container: container)).add(to: router)
    OperatorRoutes(container: container, metrics: metrics).add(to: router)
    return router
}
