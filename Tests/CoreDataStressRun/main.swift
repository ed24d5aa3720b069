// The stress run as a program: `CoreDataStressRun SECONDS [SAVES [SEED]]`. Exit status 1 when a context or the store is not as it was
// committed, or a context saved less than SAVES times; 3 when the run hangs.

import CoreDataStress
import Dispatch
import Foundation

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-stress-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

func end(_ status: Int32) -> Never {
    try? FileManager.default.removeItem(at: folder)
    exit(status)
}

let arguments = CommandLine.arguments.dropFirst().prefix { !$0.hasPrefix("-com.") }
switch arguments.first {
case "--planted-race":
    try Planted.race(in: folder)
    end(0)
case "--planted-stale-read":
    print(Planted.staleRead())
    end(0)
default: break
}

guard let seconds = arguments.first.flatMap(Double.init), seconds > 0 else {
    FileHandle.standardError.write(Data("usage: CoreDataStressRun SECONDS [SAVES [SEED]]\n".utf8))
    end(2)
}
let rest = arguments.dropFirst().map { UInt64($0) ?? 0 }
let (leastSaves, seed) = (Int(rest.first ?? 0), rest.count > 1 ? rest[1] : 1)

// Eight writers and all that they wait for end long before this, unless they wait for each other.
DispatchQueue.global().asyncAfter(deadline: .now() + seconds * 5 + 240) {
    print("the run hangs")
    end(3)
}
let report = try Stress.run(seconds: seconds, saves: leastSaves, seed: seed, in: folder)
print(report.summary)
for complaint in report.complaints.prefix(40) { print(complaint) }
let isBusy = report.saves.allSatisfy { $0 >= leastSaves }
if !isBusy { print("a context saved less than \(leastSaves) times") }
end(report.complaints.isEmpty && isBusy ? 0 : 1)
