// Saves that are recorded, and the reading of what was recorded.

import CoreData
import Yardstick

/// `history`: all patients in saves of a thousand, recorded. `historyRead`: what these saves have left, change by change.
struct HistoryTasks {
    let rows: Int
    private static let saved = 1000

    func run(_ task: Task, _ path: String, _ region: Region) throws -> Checksum {
        let stack = try Stack(path: path, options: [NSPersistentHistoryTrackingKey: true])
        let checksum = try stack.context.performAndWait {
            try task == .history ? save(stack, region) : read(stack, region)
        }
        try stack.close()
        return checksum
    }

    private func save(_ stack: Stack, _ region: Region) throws -> Checksum {
        let context = stack.context
        let (values, injuries) = (Patients.all(rows), try injuries(context))
        let patients = try region.measure { try add(values, injuries, context) }
        return Checksum(whole: Int64(patients.count))
    }

    private func read(_ stack: Stack, _ region: Region) throws -> Checksum {
        let context = stack.context
        let injuries = try injuries(context)
        let start = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
        _ = try add(Patients.all(rows), injuries, context)
        // Plain C reads on the connection that wrote, whose pages are there.
        let warming = NSPersistentHistoryChangeRequest.fetchHistory(after: start)
        warming.resultType = .count
        _ = try context.execute(warming)
        var checksum = Checksum()
        let read = try region.measure {
            let result =
                try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: start))
                as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            for transaction in transactions {
                for change in transaction.changes ?? [] where change.changeType == .insert {
                    checksum.whole += change.changeID
                }
            }
            return transactions
        }
        // Those of the injuries come first.
        return withExtendedLifetime(read) { Checksum(whole: checksum.whole - Int64(rows) * Int64(injuries.count)) }
    }

    private func injuries(_ context: NSManagedObjectContext) throws -> [Injury] {
        let injuries = (1...Patients.injuries(of: rows)).map { id in
            let injury = Injury(context: context)
            injury.name = Patients.injuryName(id)
            return injury
        }
        try context.save()
        return injuries
    }

    private func add(_ values: [PatientRow], _ injuries: [Injury], _ context: NSManagedObjectContext) throws
        -> [Patient]
    {
        var patients: [Patient] = []
        for start in stride(from: 0, to: values.count, by: Self.saved) {
            patients += values[start..<min(start + Self.saved, values.count)].map { Patient($0, injuries, context) }
            try context.save()
        }
        return patients
    }
}
