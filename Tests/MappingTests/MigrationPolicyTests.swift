// What policies do to the objects of a migration, and what others do to its stores meanwhile.

import CoreDataTestSupport
import Synchronization
import Testing

@testable import CoreData

/// Has a closure of the manager's `userInfo` do what a policy does, after it.
final class HookPolicy: NSEntityMigrationPolicy {
    enum Moment { case create, endCreation, relate, validate, end }
    typealias Hook = (Moment, NSManagedObject?, NSEntityMapping, NSMigrationManager) throws -> Void

    private func call(
        _ moment: Moment, _ object: NSManagedObject?, _ mapping: NSEntityMapping, _ manager: NSMigrationManager
    ) throws {
        try (manager.userInfo?["hook"] as? Hook)?(moment, object, mapping, manager)
    }
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        try call(.create, sInstance, mapping, manager)
    }
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try call(.endCreation, nil, mapping, manager)
    }
    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        try call(.relate, dInstance, mapping, manager)
    }
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try call(.validate, nil, mapping, manager)
    }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try call(.end, nil, mapping, manager)
    }
}

/// New ones may not be bad; changed ones may.
final class PickyItem: NSManagedObject {
    override func validateForInsert() throws {
        try super.validateForInsert()
        if value(forKey: "text") as? String == "bad" { throw CocoaError(.coderInvalidValue) }
    }
}

@Suite struct MigrationPolicyTests {
    private let versions = Versions()
    private let first: NSManagedObjectModel
    private let second: NSManagedObjectModel
    private var old: URL { versions.file("old") }
    private var new: URL { versions.file("new") }

    private static func entities(_ item: String = "", _ owner: String = "optional=\"YES\"") -> String {
        """
        <entity name="Item" \(item)><attribute name="number" optional="YES" attributeType="Integer 64"/>
            <attribute name="text" optional="YES" attributeType="String"/>
            <relationship name="owner" \(owner) maxCount="1" destinationEntity="Owner" inverseName="items" inverseEntity="Owner"/>
        </entity>
        <entity name="Owner"><attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="items" optional="YES" toMany="YES" ordered="YES" destinationEntity="Item" inverseName="owner" inverseEntity="Item"/>
        </entity>
        """
    }

    init() throws {
        first = try versions.model("A", Self.entities())
        second = try versions.model("B", Self.entities() + "<entity name=\"Extra\"/>")
    }

    // MARK: Stores and mappings

    private func fill(_ count: Int, type: String = NSSQLiteStoreType) throws {
        try versions.with(first, at: old, type: type) { context in
            let owners = (0..<10).map { context.make("Owner", ["name": "\($0)"]) }
            for number in 0..<count {
                context.make("Item", ["number": number, "text": "\(number)", "owner": owners[number % 10]])
            }
            try context.save()
        }
    }

    private func entity(_ name: String, _ attributes: [String], _ relationship: (String, String)?) -> NSEntityMapping {
        func property(_ name: String, _ expression: String) -> NSPropertyMapping {
            let property = NSPropertyMapping()
            (property.name, property.valueExpression) = (name, NSExpression(format: expression))
            return property
        }
        let mapping = NSEntityMapping()
        (mapping.name, mapping.sourceEntityName, mapping.destinationEntityName) = (name, name, name)
        mapping.attributeMappings = attributes.map { property($0, "$source.\($0)") }
        let instances = "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', "
        mapping.relationshipMappings = relationship.map { name, target in
            [property(name, "\(instances)'\(target)', $source.\(name))")]
        }
        mapping.entityMigrationPolicyClassName = "HookPolicy"
        return mapping
    }

    private var owners: NSEntityMapping { entity("Owner", ["name"], ("items", "Item")) }
    private var items: NSEntityMapping { entity("Item", ["number", "text"], ("owner", "Owner")) }
    private var bareItems: NSEntityMapping { entity("Item", ["number", "text"], nil) }

    private func manager(_ model: NSManagedObjectModel, _ hook: @escaping HookPolicy.Hook) -> NSMigrationManager {
        let manager = NSMigrationManager(sourceModel: first, destinationModel: model)
        manager.userInfo = ["hook": hook]
        return manager
    }

    private func migrate(
        _ mappings: [NSEntityMapping], to model: NSManagedObjectModel? = nil,
        from type: NSPersistentStore.StoreType = .sqlite, _ hook: @escaping HookPolicy.Hook
    ) throws {
        let mapping = NSMappingModel()
        mapping.entityMappings = mappings
        try manager(model ?? second, hook).migrateStore(from: old, type: type, mapping: mapping, to: new, type: .sqlite)
    }

    /// How many items there are, and how many owners have between them.
    private func counts(_ model: NSManagedObjectModel? = nil) throws -> [Int] {
        try versions.with(model ?? second, at: new) { context in
            let owners = try context.all("Owner", by: "name")
            return [
                try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")),
                owners.reduce(0) { $0 + (($1.value(forKey: "items") as? NSOrderedSet)?.count ?? 0) },
            ]
        }
    }

    // MARK: Sources

    @Test(
        "All of a migration reads one state of a SQLite source, whatever others save meanwhile",
        arguments: [true, false])
    func liveSource(hasLog: Bool) throws {
        try fill(30)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: first)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: old,
            options: [
                NSPersistentStoreTimeoutOption: 0.1,
                NSSQLitePragmasOption: ["journal_mode": hasLog ? "WAL" : "DELETE"],
            ])
        let writer = coordinator.context()
        nonisolated(unsafe) var (saved, refused) = (0, 0)
        try migrate([owners, items]) { moment, _, mapping, manager in
            guard moment == .endCreation || moment == .validate else { return }
            writer.performAndWait {
                let owner = writer.make("Owner", ["name": "new"])
                writer.make("Item", ["number": 100, "owner": owner])
                do {
                    try writer.save()
                    saved += 1
                } catch {
                    writer.rollback()
                    refused += 1
                }
            }
            try manager.sourceContext.save()
            manager.sourceContext.refreshAllObjects()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
            #expect(try manager.sourceContext.count(for: request) == 10)
            try manager.sourceContext.setQueryGenerationFrom(.current)
            #expect(try manager.sourceContext.count(for: request) == 10)
            try manager.sourceContext.setQueryGenerationFrom(nil)
        }
        // Without a log the source takes no writes meanwhile.
        let (kept, left) = (saved, refused)
        #expect(kept == (hasLog ? 4 : 0) && left == (hasLog ? 0 : 4))
        #expect(try counts() == [30, 30])
        try coordinator.remove(store)
    }

    @Test("A source in memory is refused in words: the manager sees none of its objects")
    func sourceInMemory() throws {
        let error = thrown { try migrate([owners, items], from: .inMemory) { _, _, _, _ in } }
        #expect(error?.code == .migrationManagerSourceStore)
        #expect(error?.sentence.contains("in memory") == true)
        #expect(!FileManager.default.fileExists(atPath: new.path))
    }

    // MARK: Validation

    @Test("What fails is found at the end whoever saved it, also a policy itself", arguments: [false, true])
    func ownSaves(saves: Bool) throws {
        try fill(30)
        let strict = try versions.model("Strict", Self.entities("", ""))
        let error = thrown {
            try migrate([bareItems], to: strict) { moment, source, mapping, manager in
                guard moment == .create, let source else { return }
                if source.value(forKey: "number") as? Int != 0 {
                    let made = manager.destinationInstances(
                        forEntityMappingName: "Item", sourceInstances: [source])
                    made[0].setValue(manager.destinationContext.make("Owner"), forKey: "owner")
                }
                if saves { try manager.destinationContext.save() }
            }
        }
        #expect(error?.errorCode == 1570)
        #expect(error?.validationKey == "owner")
    }

    @Test("Objects of a batch that a policy has let go, by a reset of either context, are asked for again")
    func contextResets() throws {
        try fill(30)
        let count = Atomic(0)
        try migrate([entity("Owner", ["name"], nil), items]) { moment, _, _, manager in
            guard moment == .create || moment == .relate, count.wrappingAdd(1, ordering: .relaxed).newValue % 7 == 0
            else { return }
            try manager.destinationContext.save()
            manager.destinationContext.reset()
            manager.sourceContext.reset()
        }
        #expect(try counts() == [30, 30])
        try versions.with(second, at: new) { context in
            for item in try context.all("Item", by: "number") {
                let number = item.value(forKey: "number") as? Int ?? -1
                #expect(item.value(forKey: "text") as? String == "\(number)")
                #expect(item.value(forKeyPath: "owner.name") as? String == "\(number % 10)")
            }
        }
    }

    @Test(
        "What a migration makes is judged as new to the end, what was there before as changed",
        arguments: [false, true])
    func insertRules(isThere: Bool) throws {
        try fill(5)
        let picky = try versions.model("Picky", Self.entities("representedClassName=\"PickyItem\""))
        if isThere {
            try versions.with(picky, at: new) { context in
                context.make("Item", ["text": "there"])
                try context.save()
            }
        }
        for isBad in [true, false] {
            let hook: HookPolicy.Hook = { moment, object, mapping, manager in
                if moment == .relate, let object, isBad, object.value(forKey: "number") as? Int == 3 {
                    object.setValue("bad", forKey: "text")
                }
                guard moment == .endCreation, isThere else { return }
                try manager.destinationContext.fetch(NSFetchRequest<NSManagedObject>("Item", "text == 'there'")).first?
                    .setValue("bad", forKey: "text")
            }
            if isBad {
                let error = thrown { try migrate([bareItems], to: picky, hook) }
                #expect(error?.code == .coderInvalidValue)
            } else {
                try migrate([bareItems], to: picky, hook)
                #expect(try counts(picky) == [isThere ? 6 : 5, 0])
            }
        }
    }

    // MARK: Associations

    @Test(
        "Deleted objects are no destinations any more, however many there are", arguments: [30, 999, 2500],
        [false, true])
    func deletions(count: Int, saves: Bool) throws {
        try fill(count)
        let gone = (count + 2) / 3
        try migrate([owners, items]) { moment, _, mapping, manager in
            guard moment == .endCreation, mapping.name == "Item" else { return }
            let made = manager.destinationInstances(forEntityMappingName: "Item", sourceInstances: nil)
            let sources = manager.sourceInstances(forEntityMappingName: "Item", destinationInstances: nil)
            #expect(made.count == count && sources.count == count)
            for place in stride(from: 0, to: count, by: 3) { manager.destinationContext.delete(made[place]) }
            for isSaved in saves ? [false, true] : [false] {
                if isSaved { try manager.destinationContext.save() }
                func made(_ sources: [NSManagedObject]?) -> Int {
                    manager.destinationInstances(forEntityMappingName: "Item", sourceInstances: sources).count
                }
                #expect(made(nil) == count - gone && made(sources) == count - gone && made([sources[3]]) == 0)
                #expect(
                    manager.sourceInstances(forEntityMappingName: "Item", destinationInstances: nil).count
                        == count - gone)
            }
        }
        #expect(try counts() == [count - gone, count - gone])
    }

    @Test("A policy deletes objects when they are related, and later mappings do not meet them", arguments: [30, 2500])
    func deletionsWhileRelating(count: Int) throws {
        try fill(count)
        try migrate([items, owners]) { moment, object, mapping, manager in
            guard moment == .relate, mapping.name == "Item", let object,
                let number = object.value(forKey: "number") as? Int, number % 3 == 0
            else { return }
            manager.destinationContext.delete(object)
        }
        let left = count - (count + 2) / 3
        #expect(try counts() == [left, left])
    }

    @Test("Of several objects that a source became the deleted one is passed over")
    func deletedFirst() throws {
        try fill(20)
        try migrate([owners, items]) { moment, source, mapping, manager in
            guard moment == .create, mapping.name == "Owner", let source else { return }
            let made = manager.destinationInstances(forEntityMappingName: "Owner", sourceInstances: [source])
            let other = manager.destinationContext.make("Owner", ["name": "other"])
            manager.associate(sourceInstance: source, withDestinationInstance: other, for: mapping)
            manager.destinationContext.delete(made[0])
        }
        #expect(try counts() == [20, 20])
    }

    @Test("Associations that a policy forgets while it relates end the relating", arguments: [30, 2500])
    func reset(count: Int) throws {
        try fill(count)
        var related = 0
        try migrate([bareItems]) { moment, _, _, manager in
            guard moment == .relate else { return }
            related += 1
            if related == 10 { manager.reset() }
        }
        #expect(related == 10)
        #expect(try counts() == [count, 0])
    }

    // MARK: Cancelling

    @Test("A migration that is cancelled in the last hook is none", arguments: [true, false])
    func cancelledLate(isInPlace: Bool) throws {
        try fill(3)
        let manager = manager(second) { moment, _, mapping, manager in
            if moment == .end, mapping.name == "Item" { manager.cancelMigrationWithError(CocoaError(.userCancelled)) }
        }
        let mapping = NSMappingModel()
        mapping.entityMappings = [owners, items]
        let error = thrown {
            if isInPlace {
                try manager.migrateInPlace(old, type: NSSQLiteStoreType, options: nil, with: mapping)
            } else {
                try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite)
            }
        }
        #expect(error?.code == .migrationCancelled)
        #expect(!FileManager.default.fileExists(atPath: new.path))
        let count = try versions.with(first, at: old) {
            try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
        }
        #expect(count == 3)
    }
}
