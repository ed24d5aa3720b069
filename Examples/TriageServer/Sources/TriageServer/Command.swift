// The command line, and the life of the process from the first line to the last.

import ArgumentParser
import CoreDataLog
import CoreDataMetrics
import CoreDataTracing
import Foundation
import Hummingbird
import Logging
import Metrics
import Tracing

@main
struct Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "TriageServer", abstract: "Serves casualties, their injuries and stations over HTTP.")

    @Option(help: "The SQLite store.")
    var store = "Triage.sqlite"

    @Option(help: "The address to listen at.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen at; 0 takes a free one.")
    var port = 8080

    @Option(
        help:
            "How many reads of the store run at once, if there are as many threads for them: 4 and 2 for each processor."
    )
    var readers = 64

    @Option(help: "Seconds that a request waits for its turn, and for the store, before it is answered 503.")
    var patience = 2.0

    @Flag(help: "Logs the spans of requests, fetches, saves and faults.")
    var spans = false

    @Option(help: "The least level of what is logged: trace, debug, info, notice, warning, error or critical.")
    var log = Logger.Level.info

    func run() async throws {
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        let metrics = MetricsText()
        MetricsSystem.bootstrap(metrics)
        var logger = Logger(label: "triage")
        logger.logLevel = log

        if spans { InstrumentationSystem.bootstrap(SpanLog(logger: logger)) }

        let store = Store(file: URL(fileURLWithPath: store), readers: readers, patience: patience)
        try await store.open()
        let coordinator = store.container.persistentStoreCoordinator
        // Kept as long as the server runs.
        var observations = [coordinator.log(to: logger), coordinator.emitMetrics()]
        if spans { observations.append(coordinator.trace()) }
        defer { observations.forEach { $0.end() } }

        let application = Application(
            router: router(container: store.container, metrics: metrics),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port), serverName: "TriageServer"),
            services: [store],
            onServerRunning: { channel in announce(channel.localAddress?.port ?? 0) },
            logger: logger)
        // SIGTERM ends the server first, then the services, last first: the store closes when no request uses it any more.
        try await application.runService(gracefulShutdownSignals: [.sigterm, .sigint])
    }

    private func announce(_ port: Int) {
        FileHandle.standardOutput.write(Data("Listening on http://\(host):\(port)\n".utf8))
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
