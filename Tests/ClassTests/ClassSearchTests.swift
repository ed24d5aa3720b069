// Classes that a model names, wherever they lie: in this test target, in two libraries with equal names, nested, generic.

import CoreDataClassesNorth
import CoreDataClassesSouth
import CoreDataTestSupport
import Foundation
import Testing

import CoreData

/// A class of the test target.
final class Lighthouse: NSManagedObject {
    var lamp: Int64 {
        get { value(forKey: "lamp") as? Int64 ?? 0 }
        set { setValue(newValue, forKey: "lamp") }
    }
}
private final class Wreck: NSManagedObject {}
final class Keeper: NSManagedObject {}

/// A model with one entity, `Thing`.
func thingModel(_ className: String?) -> NSManagedObjectModel {
    let lamp = NSAttributeDescription()
    lamp.name = "lamp"
    lamp.attributeType = .integer64AttributeType
    let entity = NSEntityDescription()
    entity.name = "Thing"
    entity.managedObjectClassName = className
    entity.properties = [lamp]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
}

/// A stack in memory over such a model.
func thingContext(_ className: String?) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: thingModel(className))
    _ = try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
    return coordinator.context()
}

/// The class that an inserted and a fetched object of the entity have, and what the entity calls it.
func foundClass(_ className: String) throws -> (made: NSManagedObject.Type, fetched: NSManagedObject.Type, name: String)
{
    let context = try thingContext(className)
    return try context.performAndWait {
        let made = type(of: NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context))
        try context.save()
        context.reset()
        let fetched = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Thing", in: context))
        return (made, type(of: try #require(fetched.first)), entity.managedObjectClassName)
    }
}

/// Collects what is told while a test runs; tests beside it are told of other names.
final class Warnings: @unchecked Sendable {
    static let shared = Warnings()
    private let lock = NSLock()
    private var sentences: [String] = []

    private init() {
        CoreDataWarning.handler = { sentence in
            self.lock.withLock { self.sentences.append(sentence) }
            FileHandle.standardError.write(Data("warning: \(sentence)\n".utf8))
        }
    }

    func about(_ name: String) -> [String] {
        lock.withLock { sentences.filter { $0.hasPrefix("The class \(name) of") } }
    }
}

@Suite struct ClassSearchTests {
    init() { _ = Warnings.shared }

    @Test(
        "A class of a test target or a library is found by its name, with a dot before it, and with its module",
        arguments: [
            ("Lighthouse", "ClassTests.Lighthouse"), (".Lighthouse", "ClassTests.Lighthouse"),
            ("ClassTests.Lighthouse", "ClassTests.Lighthouse"), ("Harbor", "CoreDataClassesNorth.Harbor"),
            (".Harbor", "CoreDataClassesNorth.Harbor"), ("CoreDataClassesNorth.Harbor", "CoreDataClassesNorth.Harbor"),
            // The module in which the model was made is not here.
            ("PhoneApp.Harbor", "CoreDataClassesNorth.Harbor"), ("FishCrate", "CoreDataClassesNorth.FishCrate"),
            ("Café", "CoreDataClassesNorth.Café"), ("Mole", "CoreDataClassesNorth.Mole"),
        ])
    func found(_ name: String, _ full: String) throws {
        let found = try foundClass(name)
        #expect(String(reflecting: found.made) == full && found.fetched == found.made && found.name == full)
    }

    @Test(
        "Nested classes are found by their name and by what is around them",
        arguments: [
            ("Tug", "CoreDataClassesNorth.Fleet.Tug"), ("Fleet.Tug", "CoreDataClassesNorth.Fleet.Tug"),
            ("CoreDataClassesNorth.Fleet.Tug", "CoreDataClassesNorth.Fleet.Tug"),
            ("Sloop", "CoreDataClassesNorth.Fleet.Reserve.Sloop"),
            (".Reserve.Sloop", "CoreDataClassesNorth.Fleet.Reserve.Sloop"),
            ("Yard.Crane", "CoreDataClassesSouth.Yard.Crane"),
            ("CoreDataClassesNorth.Crane", "CoreDataClassesNorth.Dock.Crane"),
            // Before the nested one of the other module.
            ("Ferry", "CoreDataClassesSouth.Ferry"), ("CoreDataClassesNorth.Ferry", "CoreDataClassesNorth.Fleet.Ferry"),
        ])
    func nested(_ name: String, _ full: String) throws {
        let found = try foundClass(name)
        #expect(String(reflecting: found.made) == full && found.fetched == found.made && found.name == full)
    }

    @Test("A private class of a file is found, and its name finds it again")
    func privateClass() throws {
        let found = try foundClass("Wreck")
        #expect(found.made == Wreck.self && found.fetched == Wreck.self && found.name == "ClassTests.Wreck")
        #expect(try foundClass(found.name).made == Wreck.self)
        #expect(try foundClass("Buoy").name == "CoreDataClassesNorth.Buoy")
    }

    @Test(
        "Of two classes with one name none is taken, and a warning names both and says how to register one",
        arguments: [
            ("Ketch", "CoreDataClassesNorth.Ketch", "CoreDataClassesSouth.Ketch"),
            ("Dock.Crane", "CoreDataClassesNorth.Dock.Crane", "CoreDataClassesSouth.Dock.Crane"),
        ])
    func ambiguous(_ name: String, _ first: String, _ second: String) throws {
        let found = try foundClass(name)
        #expect(found.made == NSManagedObject.self && found.fetched == found.made && found.name == name)
        #expect(try foundClass(name).made == NSManagedObject.self)
        let told = Warnings.shared.about(name)
        #expect(told.count == 1 && told[0].contains("\(first) or \(second)"))
        #expect(told.first?.contains("NSManagedObjectModel.setClass(\(first).self, forClassName: \"\(name)\")") == true)
        #expect(try foundClass(first).name == first && foundClass(second).name == second)
    }

    @Test("A generic class is not found, and the warning says to register it")
    func generic() throws {
        #expect(try foundClass("Crate").made == NSManagedObject.self)
        let told = Warnings.shared.about("Crate")
        #expect(told.count == 1 && told[0].contains("NSManagedObjectModel.setClass(CoreDataClassesNorth.Crate<…>.self"))
    }

    @Test("Classes inside functions, classes of other kinds and unknown names leave plain objects, in silence")
    func none() throws {
        _ = localClass()
        for name in ["Gull", "ClassTests.Nothing", "Nothing", "..", ".", "a.b.c.d", "NSManagedObject", ""] {
            #expect(try foundClass(name).made == NSManagedObject.self, "\(name)")
            #expect(Warnings.shared.about(name).isEmpty, "\(name)")
        }
        #expect(try foundClass("Gull").name == "Gull" && foundClass("").name == "")
    }

    @Test("A registered class comes before all others, until it is taken back")
    func registered() throws {
        NSManagedObjectModel.setClass(Crate<String>.self, forClassName: "StringCrate")
        NSManagedObjectModel.setClass(Lighthouse.self, forClassName: ".Beacon")
        NSManagedObjectModel.setClass(Wreck.self, forClassName: "Keeper")
        #expect(try foundClass("StringCrate").fetched == Crate<String>.self)
        #expect(try foundClass("Beacon").fetched == Lighthouse.self && foundClass(".Beacon").fetched == Lighthouse.self)
        #expect(try foundClass("Keeper").fetched == Wreck.self)
        NSManagedObjectModel.setClass(nil, forClassName: "Keeper")
        #expect(try foundClass("Keeper").fetched == Keeper.self)
        #expect(try foundClass("ClassTests.Keeper").fetched == Keeper.self)
    }

    @Test("The name that a model without use has reads as the class found")
    func unused() {
        let model = thingModel(".Harbor")
        #expect(model.entities[0].managedObjectClassName == "CoreDataClassesNorth.Harbor")
        #expect(thingModel("Nobody").entities[0].managedObjectClassName == "Nobody")
        #expect(thingModel(nil).entities[0].managedObjectClassName == "NSManagedObject")
        model.entities[0].managedObjectClassName = "CoreDataClassesSouth.Ketch"
        #expect(model.entities[0].managedObjectClassName == "CoreDataClassesSouth.Ketch")
    }
}
