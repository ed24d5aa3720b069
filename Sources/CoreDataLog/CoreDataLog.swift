// What a coordinator does, written to a swift-log logger.

#if Log
import CoreData
import CoreDataCallSites
import Logging

/// At which levels things are logged. Ours, beside Core Data's API.
public struct CoreDataLogLevels: Sendable {
    /// Statements, with text, rows and time.
    public var statement = Logger.Level.trace
    public var fetch = Logger.Level.debug
    public var save = Logger.Level.debug
    /// Faults that were read from a store.
    public var faults = Logger.Level.trace
    /// Waits for a connection, a place or a turn that had it in the end.
    public var wait = Logger.Level.debug
    /// What took `slowAfter` or longer; a statement with its plan and the line of the program that ran it. Of waits there is a line a
    /// second at most, with the longest since the line before and how many there were (`waits`).
    public var slow = Logger.Level.warning
    /// Fetches and saves that failed, and waits that were in vain.
    public var failure = Logger.Level.error
    /// From when on something is slow.
    public var slowAfter = Duration.milliseconds(100)

    public init() {}
}

extension NSPersistentStoreCoordinator {
    /// Logs what the coordinator's stores and contexts do, until the answer is told to end, or let go.
    ///
    /// Where the logger's level keeps a message out, its text is not made. Bound values are never logged.
    public func log(to logger: Logger, levels: CoreDataLogLevels = CoreDataLogLevels()) -> CoreDataObservation {
        let writer = EventLog(logger: logger, levels: levels)
        return observe { writer.write($0) }
    }
}
#else
import CoreData

@available(*, unavailable, message: "add traits: [\"Log\"] to the dependency on OpenCoreData in Package.swift")
public struct CoreDataLogLevels: Sendable {
    public init() {}
}

extension NSPersistentStoreCoordinator {
    @available(*, unavailable, message: "add traits: [\"Log\"] to the dependency on OpenCoreData in Package.swift")
    public func log(to logger: Any, levels: Any? = nil) -> CoreDataObservation { observe { _ in } }
}
#endif
