// The oracle as a program: `CoreDataOracleRun SEQUENCES STORE-TYPE…`, of three contexts and of one with undo. One walk of two threads
// follows for each hundred sequences, and 25 at least. Exit status 1 when a sequence failed or a kind is rare.
// `ORACLE_FIRST_SEED=20001` looks at other ones than every run does; `ORACLE_PUSHES=1000` sets the number of walks.

import CoreData
import CoreDataOracle

let arguments = CommandLine.arguments.dropFirst()
guard let count = arguments.first.flatMap(UInt64.init), count > 0, arguments.count > 1 else {
    FileHandle.standardError.write(Data("usage: CoreDataOracleRun SEQUENCES STORE-TYPE...\n".utf8))
    exit(2)
}
let first = ProcessInfo.processInfo.environment["ORACLE_FIRST_SEED"].flatMap(UInt64.init) ?? 1
let walks = ProcessInfo.processInfo.environment["ORACLE_PUSHES"].flatMap(UInt64.init) ?? max(25, count / 100)
var isSound = true
for type in arguments.dropFirst() {
    for (contexts, search) in [("three contexts", Oracle.searchThree), ("one context", Oracle.searchOne)] {
        let start = Date()
        let report = try search(type, first...first + count - 1)
        let total = report.counts.values.reduce(0, +)
        let seconds = Int(Date().timeIntervalSince(start).rounded())
        print("\(type), \(contexts): \(count) sequences, \(total) moves in \(seconds) s; \(report.summary)")
        if let failure = report.failure {
            print(failure)
            isSound = false
        }
        // A kind that hardly occurs shows nothing.
        for (name, times) in report.counts where times * 200 < total {
            print("\(name) is less than 0.5 % of all moves")
            isSound = false
        }
    }
    if PushWalk.types.contains(type), walks > 0 {
        let start = Date()
        let report = try PushWalk.search(type, seeds: first...first + walks - 1, steps: 200)
        let seconds = Int(Date().timeIntervalSince(start).rounded())
        print("\(type): \(walks) walks of two threads that push through children in \(seconds) s; \(report.summary)")
        if let failure = report.failure {
            print(failure)
            isSound = false
        }
        for (name, times) in report.counts where times == 0 {
            print("\(name) never happened")
            isSound = false
        }
    }
    // Whoever reads through a pipe sees each store when it is done.
    fflush(nil)
}
exit(isSound ? 0 : 1)
