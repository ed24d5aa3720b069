// The agreement as a program: `CoreDataAgreementRun PREDICATES`. Exit status 1 when two sides answer a predicate differently, or what is
// asked is too plain. `AGREEMENT_FIRST_SEED=20001` looks at other models than every run does.

import CoreDataAgreement
import Foundation
import Synchronization

guard let count = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }), count > 0 else {
    FileHandle.standardError.write(Data("usage: CoreDataAgreementRun PREDICATES\n".utf8))
    exit(2)
}
let first = ProcessInfo.processInfo.environment["AGREEMENT_FIRST_SEED"].flatMap(UInt64.init) ?? 1
let perModel = 250
let models = (count + perModel - 1) / perModel
let start = Date()
let found = Mutex<(tally: PredicateTally, differences: [String], refusals: [String], damaged: [Int])>(
    (PredicateTally(), [], [], [0, 0, 0]))
DispatchQueue.concurrentPerform(iterations: models) { number in
    let seed = first + UInt64(number)
    do {
        var agreement = try Agreement(seed: seed)
        try agreement.ask(perModel)
        found.withLock {
            $0.tally.add(agreement.tally)
            $0.differences += agreement.differences
            $0.refusals += agreement.refusals.prefix(1)
            let damaged = agreement.damaged
            for (place, count) in [damaged.asked, damaged.taken, damaged.answered].enumerated() {
                $0.damaged[place] += count
            }
        }
    } catch { found.withLock { $0.differences.append("seed \(seed): \(error)") } }
}
let (tally, differences, refusals, damaged) = found.withLock { $0 }
let seconds = Int(Date().timeIntervalSince(start).rounded())
print("predicates: \(tally.total) of \(models) models in \(seconds) s; \(tally.summary)")
// A small run shows only whether the sides agree.
let faults = tally.total < 50_000 ? [] : tally.faults
for refusal in refusals.prefix(3) { print("for example, \(refusal)") }
for difference in differences.prefix(20) { print(difference) }
for fault in faults { print(fault) }
print(
    "damaged texts: \(damaged[0]), of which \(damaged[1]) can be read and \(damaged[2]) are answered; \(differences.count) differences"
)
exit(differences.isEmpty && faults.isEmpty ? 0 : 1)
