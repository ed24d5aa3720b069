// The frame of a contender's program: arguments in, one line of JSON a repetition out.

import CYardstick
import Foundation

/// What is measured. The comments of `Driver/contenders.py` and `Documentation/Performance.md` describe each.
public enum Task: String, CaseIterable, Sendable {
    case insert, fetch, fetchRead, filter, lookup, lookupRegistered, update, delete, toOne, toMany, commit,
        open
    case request, request1, request32, request1000
    /// 32 writers at once, of which each has owners of its own, or all give members to the same ones, without and with order.
    case sharedNothing, sharedOwners, sharedOrder
    case toOneWalk, toManyPrefetch, faults, undo, redo, saveDirty
    /// Requests of every kind.
    case filterSort, lookupIndexed, aggregate, dictionary, swiftDictionary, columns, inList, join, parse, batchInsert
    /// Fetches by chains of conditions; only `Scripts/budgets` runs it, to count how its cost grows.
    case chain
    /// A property read and written a million times; only `Scripts/budgets` runs them, to count and to see what they call.
    case typedRead, typedWrite
    /// A thousand patients as JSON; only `Scripts/budgets` runs it, to compare `encoded` with structures that a program fills itself.
    case encode
    /// Saves that are recorded in a history, and its reading.
    case history, historyRead
    /// Stores that are carried to another version of their model, and what the last of these is compared with.
    case migrateAdd, migrateRename, migrateMapping, copyObjects
    case free, memory
    /// Writes the database that the other tasks start from.
    case seed

    /// Waiting for the disk is part of a commit and of opening, and for a turn of many requests; all else is counted in CPU time.
    var isWallClock: Bool { self == .commit || self == .open || atOnce != nil || isSharing }

    public var isSharing: Bool { self == .sharedNothing || self == .sharedOwners || self == .sharedOrder }

    public var isMigration: Bool {
        self == .migrateAdd || self == .migrateRename || self == .migrateMapping || self == .copyObjects
    }

    public var isRequest: Bool { self == .request || atOnce != nil }

    /// How many requests there are at once beside a writer; nil for the other tasks.
    public var atOnce: Int? {
        switch self {
        case .request1: 1
        case .request32: 32
        case .request1000: 1000
        case .insert, .fetch, .fetchRead, .filter, .lookup, .lookupRegistered, .update, .delete, .toOne, .toMany,
            .commit,
            .open, .request, .sharedNothing, .sharedOwners, .sharedOrder, .toOneWalk, .toManyPrefetch, .faults, .undo,
            .redo, .saveDirty,
            .chain, .encode, .typedRead, .typedWrite, .history, .historyRead, .free, .memory, .seed, .migrateAdd,
            .migrateRename, .migrateMapping,
            .copyObjects, .filterSort, .lookupIndexed, .aggregate, .dictionary, .swiftDictionary, .columns, .inList,
            .join, .parse,
            .batchInsert:
            nil
        }
    }
}

/// How often `typedRead` and `typedWrite` read or write.
public let typedCount = 1_000_000
/// How many one-row transactions the task `commit` makes.
public let commitCount = 500
/// How many requests the task `request` answers one after the other, and how many those at once.
public let requestCount = 1000
public let loadCount = 20_000
/// How often `lookupIndexed` asks, how many values `inList` names, how many conditions `parse` makes.
public let (indexedCount, listCount, parseCount) = (1000, 10_000, 1000)

/// A program under measure.
public protocol Contender: Sendable {
    init(rows: Int)
    /// Runs a task once on the file at `path`; what lies outside `region.measure` is not counted.
    func run(_ task: Task, path: String, region: Region) throws -> Checksum
}

/// A reason to stop, as a sentence.
public struct Failure: Error, CustomStringConvertible {
    public var description: String
    public init(_ description: String) { self.description = description }
    /// A contender that has no counterpart of a task says so.
    public static func noCounterpart(_ task: Task) -> Failure {
        Failure("no counterpart of \(task.rawValue)")
    }
}

/// The measured part of a repetition. Unchecked: one thread at a time has it, though not always the same.
public final class Region: @unchecked Sendable {
    private let task: Task
    private let isCounted: Bool
    fileprivate var nanoseconds: Int64 = 0
    fileprivate var bytes: Int64 = 0
    /// The time that one request in a hundred takes longer than, in nanoseconds.
    public var p99: Int64 = 0

    init(task: Task, isCounted: Bool) {
        self.task = task
        self.isCounted = isCounted
    }

    public func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
        let start = time()
        if isCounted { yardstick_count_begin() }
        defer {
            if isCounted { yardstick_count_end() }
            nanoseconds += time() - start
        }
        return try body()
    }

    /// Measures the heap that the result keeps in use.
    public func measureHeap<Result>(_ body: () throws -> Result) rethrows -> Result {
        let start = yardstick_heap_bytes()
        let result = try measure(body)
        bytes += yardstick_heap_bytes() - start
        return result
    }

    public static func wallTime() -> Int64 { yardstick_wall_time() }

    private func time() -> Int64 { task.isWallClock ? yardstick_wall_time() : yardstick_cpu_time() }
}

extension Contender {
    /// Runs `program TASK ROWS PATH…`: one repetition for each path. The first warms up, the last is counted.
    public static func main() {
        do {
            let arguments = CommandLine.arguments
            guard arguments.count >= 4, let task = Task(rawValue: arguments[1]), let rows = Int(arguments[2])
            else { throw Failure("usage: \(arguments[0]) TASK ROWS PATH…") }
            let contender = Self(rows: rows)
            for (index, path) in arguments[3...].enumerated() {
                let region = Region(task: task, isCounted: index == arguments.count - 4)
                let checksum = try contender.run(task, path: path, region: region)
                report(region, checksum)
            }
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func report(_ region: Region, _ checksum: Checksum) {
        let weight = String(format: "%.1f", checksum.weight)
        let seconds = String(format: "%.9f", Double(region.nanoseconds) / 1e9)
        print(
            "{\"seconds\": \(seconds), \"bytes\": \(region.bytes), \"p99\": \(region.p99), "
                + "\"whole\": \(checksum.whole), \"weight\": \(weight)}")
    }
}

/// The pragmas that every contender runs on a new file and on each connection.
public enum Settings {
    public static var creation: String { String(cString: yardstick_creation_pragmas()) }
    public static var connection: String { String(cString: yardstick_connection_pragmas()) }
    /// The tables of the contenders that are not a store of Core Data.
    public static let tables = """
        CREATE TABLE injury(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE patient(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL,
            admitted REAL NOT NULL, weight REAL NOT NULL, note TEXT, photo BLOB, injury INTEGER);
        CREATE INDEX patient_injury ON patient(injury);
        """
    /// Those of the task `join`.
    public static let wardTables = """
        CREATE TABLE hospital(id INTEGER PRIMARY KEY, city TEXT NOT NULL);
        CREATE TABLE ward(id INTEGER PRIMARY KEY, floor INTEGER NOT NULL, hospital INTEGER);
        CREATE TABLE visit(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL, ward INTEGER);
        CREATE INDEX ward_hospital ON ward(hospital);
        CREATE INDEX visit_ward ON visit(ward);
        """
}
