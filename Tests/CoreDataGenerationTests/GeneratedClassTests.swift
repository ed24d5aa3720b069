// Classes that the build made of models, at work.

import CoreData
import Foundation
import Testing

/// A stack over a model of this target, changed before it is used.
func stack(_ name: String, _ change: (NSManagedObjectModel) -> Void = { _ in }) throws -> NSManagedObjectContext {
    let url = try #require(Bundle.module.url(forResource: name, withExtension: "xcdatamodeld"))
    let model = try NSManagedObjectModel(loading: url)
    change(model)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
}

extension NSManagedObjectContext {
    /// Runs a step, and the next with nothing in memory.
    func step(_ body: @Sendable (NSManagedObjectContext) throws -> Void) throws {
        try performAndWait {
            try body(self)
            try save()
            reset()
        }
    }

    func only<T: NSManagedObject>(_ request: NSFetchRequest<T>) throws -> T { try #require(try fetch(request).first) }
}

@Suite struct GeneratedClassTests {
    @Test("Xcode's names and types: every kind of attribute is saved and read")
    func attributes() throws {
        let context = try stack("Clinic")
        let id = UUID()
        try context.step { context in
            let patient = Outpatient(context: context)
            patient.id = id
            patient.admitted = Date(timeIntervalSinceReferenceDate: 5)
            patient.seconds = 7
            patient.age = -41
            patient.small = 3
            patient.mid = 4
            patient.number = 5
            patient.flag = true
            patient.flagNumber = true
            patient.weight = 1.25
            patient.height = 2.5
            patient.name = "Ada"
            patient.photo = Data([1, 2])
            patient.site = URL(string: "https://example.org")
            patient.fee = NSDecimalNumber(string: "1.10")
            patient.tags = ["a", "b"]
            patient.blob = NSArray(array: [1])
            patient.triage = 2
            patient.default = "d"
            patient.in = 6
            patient.`with-dash` = "w"
            patient.place = ["lat": 1.5]
        }
        try context.step { context in
            let patient = try context.only(NSFetchRequest<Outpatient>(entityName: "Outpatient"))
            #expect(
                patient.id == id && patient.admitted == Date(timeIntervalSinceReferenceDate: 5) && patient.seconds == 7)
            #expect(
                patient.age == -41 && patient.small == 3 && patient.mid == 4 && patient.number == 5 && patient.in == 6)
            #expect(patient.flag && patient.flagNumber == true && patient.weight == 1.25 && patient.height == 2.5)
            #expect(
                patient.name == "Ada" && patient.note == nil && patient.photo == Data([1, 2]) && patient.fee == 1.1)
            #expect(patient.site?.absoluteString == "https://example.org" && patient.tags == ["a", "b"])
            #expect(
                patient.blob == NSArray(array: [1]) && patient.default == "d" && patient.`with-dash` == "w"
                    && patient.triage == 2)
            #expect(patient.place?["lat"] as? Double == 1.5 && patient.injuryCount == 0)
            patient.number = nil
            patient.flagNumber = nil
            patient.fee = nil
            patient.place = nil
        }
        try context.step { context in
            let patient = try context.only(Registered.fetchRequest() as NSFetchRequest<Registered>) as? Outpatient
            #expect(
                patient?.number == nil && patient?.flagNumber == nil && patient?.fee == nil && patient?.place == nil)
        }
    }

    @Test("Members come and go by the methods that Xcode generates, for objects and sets")
    func members() throws {
        let context = try stack("Clinic")
        try context.step { context in
            let patient = Outpatient(context: context)
            (patient.id, patient.admitted, patient.seconds, patient.name) = (UUID(), Date(), 0, "Ada")
            let injuries = (0..<4).map { number in
                let injury = Sprain(context: context)
                injury.kind = "\(number)"
                return injury
            }
            patient.addToInjuries(injuries[0])
            patient.addToInjuries(NSSet(array: injuries))
            patient.removeFromInjuries(injuries[1])
            patient.removeFromInjuries(NSSet(array: [injuries[2]]))
            #expect(injuries[0].patient === patient && injuries[1].patient == nil)
        }
        try context.step { context in
            let patient = try context.only(NSFetchRequest<Outpatient>(entityName: "Outpatient"))
            #expect(Set(patient.injuries?.compactMap { ($0 as? Sprain)?.kind } ?? []) == ["0", "3"])
            #expect(patient.injuryCount == 2 && patient.olds?.isEmpty == true)
            patient.injuries = nil
            #expect(patient.injuries?.count == 0)
        }
    }

    @Test("Ordered members are inserted, replaced and removed at their places")
    func ordered() throws {
        let context = try stack("Clinic")
        try context.step { context in
            let patient = Outpatient(context: context)
            (patient.id, patient.admitted, patient.name) = (UUID(), Date(), "Ada")
            let visits = (0..<8).map { _ in Callout(context: context) }
            func order() -> [Int] {
                patient.visits?.compactMap { visit in visits.firstIndex { $0 === visit as? Callout } } ?? []
            }
            patient.addToVisits(visits[0])
            patient.addToVisits(NSOrderedSet(array: [visits[1], visits[2]]))
            patient.insertIntoVisits(visits[3], at: 0)
            #expect(order() == [3, 0, 1, 2])
            patient.insertIntoVisits(
                [visits[4], visits[5]], at: NSIndexSet(indexesIn: NSRange(location: 1, length: 2)))
            #expect(order() == [3, 4, 5, 0, 1, 2])
            patient.replaceVisits(at: 0, with: visits[6])
            patient.replaceVisits(at: NSIndexSet(index: 5), with: [visits[7]])
            #expect(order() == [6, 4, 5, 0, 1, 7])
            patient.removeFromVisits(at: 1)
            patient.removeFromVisits(at: NSIndexSet(indexesIn: NSRange(location: 0, length: 2)))
            #expect(order() == [0, 1, 7])
            patient.removeFromVisits(visits[0])
            patient.removeFromVisits(NSOrderedSet(array: [visits[1]]))
            #expect(order() == [7] && visits[7].patient === patient)
            patient.visits = NSOrderedSet(array: [visits[2], visits[1]])
            #expect(order() == [2, 1])
        }
    }

    @Test(
        "A model that has more than the classes were made for moves their slots, and every property is still right",
        arguments: [0, 1])
    func otherSlots(_ kept: Int) throws {
        let context = try stack("Clinic") { model in
            let extra = NSAttributeDescription()
            extra.name = "aaa"
            extra.attributeType = .stringAttributeType
            extra.isOptional = true
            model.entitiesByName[kept == 0 ? "Registered" : "Outpatient"]?.properties.append(extra)
            let more = NSRelationshipDescription()
            more.name = "aab"
            more.destinationEntity = model.entitiesByName["Plainling"]
            (more.isOptional, more.maxCount) = (true, 0)
            model.entitiesByName["Registered"]?.properties.append(more)
        }
        try context.step { context in
            let patient = Outpatient(context: context)
            (patient.id, patient.admitted, patient.name, patient.age) = (UUID(), Date(), "Ada", 41)
            patient.addToVisits(Callout(context: context))
            patient.insertIntoVisits(Callout(context: context), at: 0)
            let injury = Sprain(context: context)
            injury.kind = "burn"
            patient.addToInjuries(injury)
            patient.setValue("extra", forKey: "aaa")
        }
        try context.step { context in
            let patient = try context.only(NSFetchRequest<Outpatient>(entityName: "Outpatient"))
            #expect(
                patient.name == "Ada" && patient.age == 41 && patient.visits?.count == 2 && patient.injuries?.count == 1
            )
            #expect(patient.value(forKey: "aaa") as? String == "extra")
        }
    }

    @Test("Swift's types: no question mark where a value is required, sets and arrays of a class, enumerations")
    func swiftTypes() throws {
        let context = try stack("Harbor")
        let id = UUID()
        try context.step { context in
            let sloop = Barque(context: context), port = Roadstead(context: context)
            #expect(
                sloop.name.isEmpty && sloop.crew == 2 && sloop.rig == .gaff && sloop.flag == nil && sloop.price == 0)
            (sloop.id, sloop.name, sloop.crew, sloop.rig, sloop.flag) = (id, "Spray", 1, .bermuda, .red)
            (sloop.price, sloop.site, sloop.draught) = (12.5, URL(fileURLWithPath: "/s"), 1.5)
            port.name = "Boston"
            port.vessels = [sloop]
            let calls = (0..<3).map { number in
                let call = Landfall(context: context)
                call.number = Int64(number)
                return call
            }
            sloop.calls = [calls[2], calls[0]]
            sloop.insertIntoCalls(calls[1], at: 1)
            sloop.addToCalls(calls)
            #expect(sloop.calls.map(\.number) == [2, 1, 0])
        }
        try context.step { context in
            let sloop = try context.only(NSFetchRequest<Barque>(entityName: "Barque"))
            #expect(
                sloop.id == id && sloop.name == "Spray" && sloop.crew == 1 && sloop.rig == .bermuda
                    && sloop.flag == .red)
            #expect(
                sloop.price == 12.5 && sloop.site == URL(fileURLWithPath: "/s") && sloop.draught == 1.5
                    && sloop.built == nil)
            #expect(sloop.port?.vessels == [sloop] && sloop.port?.size == 1 && sloop.calls.map(\.number) == [2, 1, 0])
            sloop.calls.remove(at: 0)
            sloop.setValue(9, forKey: "rig")
            sloop.setValue("green", forKey: "flag")
            #expect(sloop.rig == .gaff && sloop.flag == nil)
        }
        try context.step { context in
            let sloop = try context.only(NSFetchRequest<Barque>(entityName: "Barque"))
            #expect(sloop.calls.map(\.number) == [1, 0])
            let vessel: any Identifiable = sloop
            #expect(vessel.id as? UUID == id)
        }
    }

    @Test("Key paths of generated properties have the model's names")
    func keyPaths() throws {
        let (clinic, harbor) = (try stack("Clinic"), try stack("Harbor"))
        clinic.performAndWait { _ = clinic.insertedObjects }
        harbor.performAndWait { _ = harbor.insertedObjects }
        #expect(NSExpression(forKeyPath: \Outpatient.name).keyPath == "name")
        #expect(NSExpression(forKeyPath: \Outpatient.number).keyPath == "number")
        #expect(NSExpression(forKeyPath: \Outpatient.small).keyPath == "small")
        #expect(NSExpression(forKeyPath: \Outpatient.injuries).keyPath == "injuries")
        #expect(NSExpression(forKeyPath: \Sprain.patient?.fee).keyPath == "patient.fee")
        #expect(NSExpression(forKeyPath: \Barque.name).keyPath == "name")
        #expect(NSExpression(forKeyPath: \Barque.crew).keyPath == "crew")
        #expect(NSExpression(forKeyPath: \Barque.calls).keyPath == "calls")
        #expect(NSExpression(forKeyPath: \Barque.id).keyPath == "id")
        #expect(NSExpression(forKeyPath: \Barque.site).keyPath == "site")
        #expect(NSExpression(forKeyPath: \Barque.flag).keyPath == "flag")
        #expect(NSExpression(forKeyPath: \Barque.rig).keyPath == "rig")
    }

    @Test("Objects are let go after many writes")
    func letGo() throws {
        let context = try stack("Clinic")
        try context.performAndWait {
            weak var seen: Outpatient?
            try {
                let patient = Outpatient(context: context)
                (patient.id, patient.admitted, patient.name) = (UUID(), Date(), "")
                for number in 0..<10_000 {
                    patient.name = "name \(number) that is longer than a word"
                    patient.age = Int64(number)
                }
                try context.save()
                seen = patient
            }()
            #expect(seen == nil)
        }
    }
}
