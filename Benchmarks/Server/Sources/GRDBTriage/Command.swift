// The command line, like that of TriageServer.

import ArgumentParser
import Foundation
import GRDB
import Hummingbird
import Logging

@main
struct Command: AsyncParsableCommand {
    @Option(help: "The SQLite file.")
    var store = "Triage.sqlite"

    @Option(help: "The address to listen at.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen at; 0 takes a free one.")
    var port = 8080

    func run() async throws {
        let pool = try DatabasePool(path: store)
        try DatabaseMigrator.tables.migrate(pool)
        let router = Router()
        router.addMiddleware {
            TracingMiddleware()
            MetricsMiddleware()
            LogRequestsMiddleware(.debug)
        }
        CasualtyRoutes(pool: pool).add(to: router)
        StationRoutes(pool: pool).add(to: router)
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname(host, port: port), serverName: "GRDBTriage"),
            onServerRunning: { channel in announce(channel.localAddress?.port ?? 0) })
        try await application.runService(gracefulShutdownSignals: [.sigterm, .sigint])
        try pool.close()
    }

    private func announce(_ port: Int) {
        FileHandle.standardOutput.write(Data("Listening on http://\(host):\(port)\n".utf8))
    }
}
