// A program that writes to the clinic's store while tests have it open: `CoreDataWriter STORE DEED [NUMBER] [plain] [rollback] [former] [full]`.

import CoreData
import CoreDataSeeds
import CoreDataTestSupport
import Foundation

// Whoever waits for a process that hangs would hang as well.
alarm(120)

let arguments = CommandLine.arguments
guard arguments.count > 2 else { exit(2) }
let number = arguments.count > 3 ? Int(arguments[3]) ?? 1 : 1
let coordinator = NSPersistentStoreCoordinator(
    managedObjectModel: arguments[2] == "migrate" ? Clinic.laterModel() : Clinic.model())
var options: [String: Any] = arguments.contains("plain") ? [:] : [NSPersistentHistoryTrackingKey: true]
if arguments.contains("rollback") { options[NSSQLitePragmasOption] = ["journal_mode": "DELETE"] }
if arguments.contains("full") { options[NSSQLitePragmasOption] = ["synchronous": "FULL"] }
if arguments.contains("former") { options[NSPersistentStoreKeepsFormerValues] = true }
if arguments[2] == "migrate" {
    options[NSMigratePersistentStoresAutomaticallyOption] = true
    options[NSInferMappingModelAutomaticallyOption] = true
    // Whoever waits for somebody's lock waits no time.
    options[NSSQLitePragmasOption] = ["busy_timeout": "1"]
    say("opens")
}
try coordinator.addPersistentStore(
    ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: arguments[1]), options: options)
let context = coordinator.context()
context.transactionAuthor = "writer"

/// At once, for whoever reads along.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Saves beds with numbers from this one on, and says each that is saved, until the store takes no more.
func load(_ first: Int) {
    for value in first... {
        let bed = context.make("Bed", ["number": value])
        do {
            while true {
                do {
                    try context.save()
                    break
                } catch let error as CocoaError where error.code.rawValue == 134090 { continue }
            }
            say("\(value)")
        } catch {
            context.delete(bed)
            return say("ended \((error as? CocoaError)?.code.rawValue ?? -1)")
        }
    }
}

/// Random inserts, updates, moves and deletions, until as many objects were changed.
func change(_ count: Int) throws {
    var random = SplitMix(17)
    var patients = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Patient"))
    var wards = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Ward"))
    var changed = 0
    while changed < count {
        for _ in 0..<Int.random(in: 1...200, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                patients.append(
                    context.make("Patient", ["name": "p\(changed)", "age": Int.random(in: 0...99, using: &random)]))
            case 4: wards.append(context.make("Ward", ["name": "w\(changed)"]))
            case 5..<7: patients.randomElement(using: &random)?.setValue("n\(changed)", forKey: "name")
            case 7..<9:
                patients.randomElement(using: &random)?.setValue(wards.randomElement(using: &random), forKey: "ward")
            default:
                guard patients.count > 20 else { continue }
                context.delete(patients.remove(at: Int.random(in: 0..<patients.count, using: &random)))
            }
            changed += 1
        }
        try context.save()
    }
}

switch arguments[2] {
case "beds":
    for value in 0..<number {
        context.make("Bed", ["number": value])
        try context.save()
    }
case "beds slowly":
    for value in 0..<number {
        context.make("Bed", ["number": value])
        try context.save()
        Thread.sleep(forTimeInterval: 0.1)
    }
case "load": load(number)
case "migrate": say("\(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Bed")))")
case "starved":
    // After the store was migrated, first without a file handle left to look at it with.
    _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Bed"))
    context.make("Bed", ["number": 0])
    try context.save()
    say("ready")
    _ = readLine()
    var taken: [Int32] = []
    while true {
        let handle = dup(0)
        if handle < 0 { break }
        taken.append(handle)
    }
    for isStarved in [true, false] {
        if !isStarved { for handle in taken { close(handle) } }
        context.make("Bed", ["number": number])
        do {
            try context.save()
            say("saved")
        } catch { say("refused \((error as? CocoaError)?.code.rawValue ?? -1)") }
        context.rollback()
    }
case "beds until refused":
    // Somebody begins a history that this process would not write to.
    var code = 0
    for value in 0..<number where code == 0 {
        context.make("Bed", ["number": value])
        do { try context.save() } catch let error as CocoaError { code = error.code.rawValue }
        Thread.sleep(forTimeInterval: 0.01)
    }
    guard code == 134030 else { exit(3) }
case "change": try change(number)
case "refused":
    // It has no name, which it must have.
    context.make("Patient")
    do { try context.save() } catch { print("refused") }
case "cursor":
    // Two of these move one cursor: the first as far as it goes, the second one step less.
    let all = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
    let transactions =
        (try context.execute(all) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
    for transaction in transactions.dropLast(number) {
        try coordinator.moveHistoryCursor("shared", to: transaction.token)
        try coordinator.moveHistoryCursor("own \(number)", to: transaction.token)
    }
default: exit(2)
}
try coordinator.close()
