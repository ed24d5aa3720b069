// Events as lines of a log.

#if Log
import CoreData
import CoreDataCallSites
import Logging

/// Writes events to one logger.
struct EventLog: Sendable {
    let logger: Logger
    let levels: CoreDataLogLevels
    private let slowWaits = SlowWaits()

    init(logger: Logger, levels: CoreDataLogLevels) { (self.logger, self.levels) = (logger, levels) }

    func write(_ event: CoreDataEvent) {
        switch event {
        case .statement(let statement): write(statement)
        case .fetch(let fetch): write(fetch)
        case .save(let save): write(save)
        case .faults(let faults): write(faults)
        case .wait(let wait): write(wait)
        }
    }

    private func isSlow(_ duration: Duration) -> Bool { duration >= levels.slowAfter }

    private func level(_ level: Logger.Level, _ duration: Duration, failed: Bool = false) -> Logger.Level {
        if failed { return max(levels.failure, level) }
        return isSlow(duration) ? max(levels.slow, level) : level
    }

    private func write(_ statement: CoreDataEvent.Statement) {
        let level = level(levels.statement, statement.duration)
        guard level >= logger.logLevel else { return }
        var metadata: Logger.Metadata = [
            "sql": "\(statement.sql)", "bindings": "\(statement.bindingCount)", "rows": "\(statement.rows)",
            "milliseconds": "\(statement.duration.milliseconds)", "store": "\(statement.storePath)",
        ]
        guard isSlow(statement.duration) else { return logger.log(level: level, "statement", metadata: metadata) }
        let plan = statement.queryPlan()
        if !plan.isEmpty { metadata["plan"] = .array(plan.map { .string($0) }) }
        // Who tells of a statement still has its connection.
        CallSites.shared.tellCurrent { [logger, metadata] site in
            var metadata = metadata
            if let site { metadata["site"] = "\(site)" }
            logger.log(level: level, "slow statement", metadata: metadata)
        }
    }

    private func write(_ fetch: CoreDataEvent.Fetch) {
        let level = level(levels.fetch, fetch.duration, failed: fetch.error != nil)
        guard level >= logger.logLevel else { return }
        var metadata: Logger.Metadata = [
            "entity": "\(fetch.entityName)", "kind": "\(fetch.kind.rawValue)", "results": "\(fetch.results)",
            "milliseconds": "\(fetch.duration.milliseconds)",
        ]
        add(&metadata, fetch.contextName, fetch.error)
        logger.log(level: level, fetch.error == nil ? "fetch" : "fetch failed", metadata: metadata)
    }

    private func write(_ save: CoreDataEvent.Save) {
        let level = level(levels.save, save.duration, failed: save.error != nil)
        guard level >= logger.logLevel else { return }
        var metadata: Logger.Metadata = [
            "inserted": "\(save.inserted)", "updated": "\(save.updated)", "deleted": "\(save.deleted)",
            "milliseconds": "\(save.duration.milliseconds)",
        ]
        if save.isToParent { metadata["to"] = "parent" }
        add(&metadata, save.contextName, save.error)
        logger.log(level: level, save.error == nil ? "save" : "save failed", metadata: metadata)
    }

    private func write(_ faults: CoreDataEvent.Faults) {
        guard !faults.isFromCache, levels.faults >= logger.logLevel else { return }
        var metadata: Logger.Metadata = [
            "entity": "\(faults.entityName)", "rows": "\(faults.count)",
            "milliseconds": "\(faults.duration.milliseconds)",
        ]
        if let name = faults.relationshipName { metadata["relationship"] = "\(name)" }
        add(&metadata, faults.contextName, nil)
        logger.log(level: levels.faults, "faults", metadata: metadata)
    }

    private func write(_ wait: CoreDataEvent.Wait) {
        let level = level(levels.wait, wait.duration, failed: !wait.isAdmitted)
        guard level >= logger.logLevel else { return }
        // Written because it is slow, and for nothing else.
        let isTallied = wait.isAdmitted && levels.wait < logger.logLevel
        guard let told = isTallied ? slowWaits.add(wait) : (count: 1, longest: wait.duration) else { return }
        var metadata: Logger.Metadata = [
            "for": "\(wait.purpose.rawValue)", "milliseconds": "\(told.longest.milliseconds)",
        ]
        if told.count > 1 { metadata["waits"] = "\(told.count)" }
        if !wait.storePath.isEmpty { metadata["store"] = "\(wait.storePath)" }
        let message: Logger.Message =
            switch wait.purpose {
            case .read, .write, .pinnedView: wait.isAdmitted ? "waited for a connection" : "got no connection"
            case .block, .turn: wait.isAdmitted ? "waited for its turn" : "got no turn"
            }
        logger.log(level: level, message, metadata: metadata)
    }

    private func add(_ metadata: inout Logger.Metadata, _ contextName: String?, _ error: (any Error)?) {
        if let contextName { metadata["context"] = "\(contextName)" }
        if let error { metadata["error"] = "\(Self.sentence(error))" }
    }

    /// What an error says, without its user info: there stand objects with their values.
    private static func sentence(_ error: any Error) -> String {
        guard let error = error as? CocoaError else { return "\(type(of: error))" }
        return "\(error.code.rawValue) \(error.localizedDescription)"
    }
}

extension Duration {
    var milliseconds: Double {
        Double(components.seconds) * 1e3 + Double(components.attoseconds / 1_000_000_000_000) / 1e3
    }
}
#endif
