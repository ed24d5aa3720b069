// The log of statements that a launch argument asks for, as Core Data's own.

import Foundation

/// What `-com.apple.CoreData.SQLDebug` among the arguments asks for, or else the environment variable of that name: 0 for nothing, from 1 on
/// each statement with its time and rows and each relationship that is read object by object, from 3 on what is bound as well.
enum SQLLog {
    /// Read once, when the first context or store is made.
    static let level = level(arguments: CommandLine.arguments, environment: ProcessInfo.processInfo.environment)

    static func level(arguments: [String], environment: [String: String]) -> Int {
        let name = "com.apple.CoreData.SQLDebug"
        if let place = arguments.lastIndex(of: "-" + name), arguments.indices.contains(place + 1),
            let level = Int(arguments[place + 1])
        {
            return level
        }
        return environment[name].flatMap { Int($0) } ?? 0
    }

    /// Writes a line to standard error.
    @Sendable
    static func write(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("CoreData: \(line)\n".utf8))
    }
}

extension SQLTrace {
    /// Writes each statement with its time and rows: to standard error, unless a closure takes the lines. The launch argument
    /// `-com.apple.CoreData.SQLDebug 1` gives it to every store without a trace of its own (3 for bindings).
    ///
    /// - Parameters:
    ///   - bindings: whether what is bound to a statement is written, a line a value.
    ///   - write: takes a line; nil for standard error.
    public static func log(bindings: Bool = false, to write: (@Sendable (String) -> Void)? = nil) -> SQLTrace {
        let write = write ?? SQLLog.write
        return SQLTrace { statement in
            write("sql: \(statement.sql)")
            if bindings {
                for (place, value) in statement.bindings.enumerated() {
                    write("details: SQLite bind[\(place)] = \(value)")
                }
            }
            write("annotation: \(statement.timing)")
        }
    }
}

extension SQLTrace.Statement: CustomStringConvertible {
    fileprivate var timing: String {
        "total execution time: \(String(format: "%.4f", seconds))s for \(rows) \(rows == 1 ? "row" : "rows")."
    }

    /// The statement, and how long it took for how many rows.
    public var description: String { "\(sql) -- \(timing)" }
}
