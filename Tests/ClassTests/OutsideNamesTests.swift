// Key paths of classes as programs write them, and keys that come from outside.

import CoreData
import CoreDataTestSupport
import Testing

final class RStation: NSManagedObject {
    var name: String { value(forKey: "name") as! String }  // `name` is not optional in the model
    var members: Set<RMember> { value(forKey: "members") as! Set<RMember> }
    var shown: String? { members.isEmpty ? nil : name }
}
final class RMember: NSManagedObject {
    var age: Int16 { value(forKey: "age") as! Int16 }  // not optional, scalar
    var name: String { value(forKey: "name") as! String }
    var station: RStation? { value(forKey: "station") as? RStation }
    var greeting: String { age < 18 ? "child" : name }  // a branch
    var audited: String { _ = age; return name }  // asks two keys of one object
}
private let xml = """
    <?xml version="1.0" encoding="UTF-8"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
    <entity name="RStation" representedClassName="RStation" syncable="YES">
    <attribute name="name" attributeType="String" defaultValueString=""/>
    <relationship name="members" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="RMember" inverseName="station" inverseEntity="RMember"/>
    </entity>
    <entity name="RMember" representedClassName="RMember" syncable="YES">
    <attribute name="age" attributeType="Integer 16" defaultValueString="0" usesScalarValueType="YES"/>
    <attribute name="name" attributeType="String" defaultValueString=""/>
    <relationship name="station" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="RStation" inverseName="members" inverseEntity="RStation"/>
    </entity>
    </model>
    """
private func context() throws -> NSManagedObjectContext {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).xcdatamodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try xml.write(to: folder.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    return try NSPersistentStoreCoordinator(NSManagedObjectModel(loading: folder), NSInMemoryStoreType, at: nil)
        .context()
}

@Suite("Names that a program's getters and users give") struct OutsideNamesTests {
    @Test("A key path over an optional to-one to a property that is required is named without being given nil")
    func optionalChainToARequiredString() async {
        await #expect(processExitsWith: .success) {
            let context = try context()
            let request = NSFetchRequest<RMember>(entityName: "RMember")
            request.sortDescriptors = [NSSortDescriptor(keyPath: \RMember.station?.name, ascending: true)]
            _ = try context.fetch(request)
        }
    }

    @Test("A getter that asks an object for two values has no name")
    func branch() throws {
        let context = try context()
        #expect(NSSortDescriptor(keyPath: \RMember.greeting, ascending: true).key == nil)
        #expect(NSSortDescriptor(keyPath: \RMember.audited, ascending: true).key == nil)
        #expect(NSSortDescriptor(keyPath: \RStation.shown, ascending: true).key == nil)
        #expect(NSSortDescriptor(keyPath: \RMember.station?.name, ascending: true).key == "station.name")
        withExtendedLifetime(context) {}
    }

    @Test("3.5 An owner that gains new members is told of them, event for event")
    func ownerOfANewMember() throws {
        let context = try context()
        let station = RStation(context: context)
        try context.save()
        _ = NSManagedObjectContext.didChangeObjectsNotification
        nonisolated(unsafe) var told: [[String]] = []
        nonisolated(unsafe) let owner = station
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { _ in
            told.append(owner.changedValuesForCurrentEvent().keys.sorted())
        }
        defer { NotificationCenter.default.removeObserver(token) }
        for _ in 0..<2 {
            RMember(context: context).setValue(station, forKey: "station")
            context.processPendingChanges()
            try context.save()
        }
        #expect(told.filter { !$0.isEmpty } == [["members"], ["members"]])
    }
    @Test("14.7 Keys that users chose are nil in memory, whatever they look like")
    func keysFromOutside() async {
        await #expect(processExitsWith: .success) {
            _ = NSPredicate(format: "%K == 1", "$x").evaluate(with: ["a": 1])
        }
        await #expect(processExitsWith: .success) {
            _ = NSPredicate(format: "SUBQUERY(list, $m, $m.%K == 1).@count > 0", "@bogus").evaluate(with: [
                "list": [["a": 1]]
            ])
        }
    }
}
