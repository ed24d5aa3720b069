// What it takes to refuse a store of one version of a package with the model of another: `swift run -c release CoreDataRefusalRun
// PACKAGE.xcdatamodeld [STEP]`. Writes a store with each version, opens it with every STEP-th other one, and prints the median and the
// longest time, of the clock and of the processor, which others on the machine do not lengthen. Ends with 1 where a store is opened whose hashes do not fit, or is refused with another code than 134100.

import CoreData
import Foundation

private let arguments = CommandLine.arguments.dropFirst()
guard let path = arguments.first else {
    print("usage: CoreDataRefusalRun PACKAGE.xcdatamodeld [STEP]")
    exit(2)
}
private let step = max(arguments.dropFirst().first.flatMap { Int($0) } ?? 1, 1)
private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("refusals-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

private struct Version {
    let name: String
    let model: NSManagedObjectModel
    let store: URL
}

private let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".xcdatamodel") }
    .sorted()
private let versions = try names.enumerated().map { number, name in
    Version(
        name: name, model: try NSManagedObjectModel(loading: URL(fileURLWithPath: path).appendingPathComponent(name)),
        store: folder.appendingPathComponent("\(number).sqlite"))
}
for version in versions {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version.model)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: version.store)
    try coordinator.remove(store)
}

/// Milliseconds that this thread has had the processor.
private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
}

private var times: [Double] = []
private var processorTimes: [Double] = []
private var opened = 0
private var wrong: [String] = []
private let clock = ContinuousClock()
private var number = 0
for old in versions {
    for new in versions where new.name != old.name {
        number += 1
        guard number.isMultiple(of: step) else { continue }
        let fits = old.model.entityVersionHashesByName == new.model.entityVersionHashesByName
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new.model)
        let (start, processorStart) = (clock.now, processorTime())
        do {
            let store = try coordinator.addPersistentStore(type: .sqlite, at: old.store)
            opened += 1
            if !fits { wrong.append("\(old.name) was opened with \(new.name)") }
            try coordinator.remove(store)
        } catch {
            times.append((clock.now - start) / .milliseconds(1))
            processorTimes.append(processorTime() - processorStart)
            if fits || (error as? CocoaError)?.code.rawValue != 134100 {
                wrong.append("\(old.name), \(new.name): \(error)")
            }
        }
    }
}
private func show(_ title: String, _ times: [Double]) {
    guard let longest = times.max() else { return }
    let sorted = times.sorted()
    print(
        title
            + String(
                format: ": median %.1f ms, 99 %% within %.1f ms, longest %.1f ms", sorted[times.count / 2],
                sorted[times.count * 99 / 100], longest))
}
print("\(versions.count) versions, \(times.count) refusals; \(opened) opened, whose hashes are the same")
show("clock", times)
show("processor", processorTimes)
for line in wrong.prefix(10) { print("wrong: \(line)") }
exit(wrong.isEmpty ? 0 : 1)
