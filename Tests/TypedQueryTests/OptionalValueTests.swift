// Comparisons with values that may be nil, and of properties that both may be nil.

import CoreDataOperators
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Typed predicates with optional values") struct OptionalValueTests {
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Harbour.model())

    private func check(
        _ predicate: NSPredicate, is format: String, finds: Int? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(predicate.description == format, sourceLocation: sourceLocation)
        for type in Harbour.types {
            let stack = try Harbour.stack(type)
            let (found, right) = (
                try stack.context.crews(predicate), try stack.context.crews(NSPredicate(format: format))
            )
            let judged = try stack.context.fetch(NSFetchRequest<Ship>(entityName: "Ship")).filter {
                predicate.evaluate(with: $0)
            }
            #expect(
                found == right && judged.map(\.crew).sorted() == right, "\(type): \(format)",
                sourceLocation: sourceLocation)
            if let finds {
                #expect(found.count == finds, "\(type): \(format)", sourceLocation: sourceLocation)
            } else {
                #expect(!found.isEmpty && found.count < 12, "\(format) tells nothing", sourceLocation: sourceLocation)
            }
        }
    }

    @Test("A value that is there, beside a property with and without nil")
    func present() throws {
        let (guns, crew, name): (Int?, Int?, String?) = (9, 3, "Ada")
        try check(\Ship.guns == guns, is: "guns == 9")
        try check(\Ship.guns != guns, is: "guns != 9")
        try check(\Ship.guns >= guns, is: "guns >= 9")
        try check(\Ship.crew == crew, is: "crew == 3")
        try check(\Ship.crew != crew, is: "crew != 3")
        try check(\Ship.crew < crew, is: "crew < 3")
        try check(\Ship.name <= name, is: "name <= \"Ada\"")
        try check(Ship.predicate { $0.guns > guns && $0.crew > crew }, is: "guns > 9 AND crew > 3")
        try check(Ship.predicate { $0.master.age == guns.map { $0 + 21 } }, is: "master.age == 30")
    }

    @Test("A value that is nil: equal to what is nil, and nothing is less or greater")
    func missing() throws {
        let (none, noText): (Int?, String?) = (nil, nil)
        try check(\Ship.guns == none, is: "guns == nil")
        try check(\Ship.guns != none, is: "guns != nil")
        try check(\Ship.crew == none, is: "crew == nil", finds: 0)
        try check(\Ship.crew != none, is: "crew != nil", finds: 12)
        try check(\Ship.guns >= none, is: "guns >= nil", finds: 0)
        try check(\Ship.crew < none, is: "crew < nil", finds: 0)
        try check(Ship.predicate { $0.nick == noText }, is: "nick == nil")
        try check(Ship.predicate { $0.nick == nil && $0.guns != nil }, is: "nick == nil AND guns != nil")
        try check(\Ship.nick == nil, is: "nick == nil")
        try check(\Ship.rig != nil, is: "rig != nil")
    }

    @Test("Two properties: whichever of them may be nil, and both")
    func properties() throws {
        try check(Ship.predicate { $0.name == $0.nick }, is: "name == nick", finds: 0)
        try check(Ship.predicate { $0.name != $0.nick && $0.crew > 4 }, is: "name != nick AND crew > 4")
        try check(Ship.predicate { $0.crew < $0.guns }, is: "crew < guns")
        try check(Ship.predicate { $0.guns > $0.crew }, is: "guns > crew")
        try check(Ship.predicate { $0.guns >= $0.master.age }, is: "guns >= master.age", finds: 1)
        try check(Ship.predicate { $0.master.name == $0.nick }, is: "master.name == nick", finds: 3)
        try check(Ship.predicate { $0.nick != $0.master.name }, is: "nick != master.name")
    }
}
