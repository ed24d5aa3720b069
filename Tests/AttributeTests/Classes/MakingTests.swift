// `T(context:)` of classes that are known when the program runs.

import CoreDataTestSupport
import Foundation
import Testing

import CoreData

/// Remembers how it was made.
class Seat: NSManagedObject {
    private(set) var wasGivenContext = false
    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
        wasGivenContext = context != nil
    }
    convenience init(name: String, in context: NSManagedObjectContext) {
        self.init(context: context)
        setValue(name, forKey: "name")
    }
}

final class Stool: Seat {
    private(set) var legs = 0
    convenience init(legs: Int, in context: NSManagedObjectContext) {
        self.init(name: "stool", in: context)
        self.legs = legs
    }
}

/// Has the initialiser itself, as programs do.
final class Bench: NSManagedObject {
    private(set) var isOwn = false
    convenience init(context: NSManagedObjectContext) {
        self.init(entity: NSEntityDescription.entity(forEntityName: "Bench", in: context)!, insertInto: context)
        isOwn = true
    }
}

@Suite("Objects made by init(context:)") struct MakingTests {
    private func stack() throws -> Stack {
        var draft = Folk.draft()
        draft.entities = draft.entities.map { entity in
            var entity = entity
            entity.relationships = []
            return entity
        }
        for (place, name) in ["Seat", "Stool", "Bench"].enumerated() {
            draft.entities[place].name = name
            draft.entities[place].className = "AttributeTests.\(name)"
        }
        draft.entities[1].parentName = "Seat"
        return try Stack(model: NSManagedObjectModel(draft: draft))
    }

    private func make<T: NSManagedObject>(_: T.Type, in context: NSManagedObjectContext) -> T { T(context: context) }
    private func several<T: NSManagedObject>(_ count: Int, in context: NSManagedObjectContext) -> [T] {
        (0..<count).map { _ in .init(context: context) }
    }

    @Test("The class is made in generic code, by convenience initialisers and of a class in a variable")
    func ways() throws {
        let stack = try stack()
        let context = stack.context
        let types: [NSManagedObject.Type] = [Seat.self, Stool.self, Bench.self]
        let stools: [Stool] = several(2, in: context)
        let seats: [NSManagedObject] =
            [
                Seat(context: context), Stool(context: context), make(Seat.self, in: context),
                make(Stool.self, in: context),
            ]
            + [
                Seat(name: "a", in: context), Stool(legs: 3, in: context), Stool(name: "b", in: context),
                Bench(context: context),
            ]
            + stools + types.map { $0.init(context: context) }
        #expect(
            seats.map { "\(type(of: $0))" } == [
                "Seat", "Stool", "Seat", "Stool", "Seat", "Stool", "Stool", "Bench", "Stool", "Stool", "Seat", "Stool",
                "Bench",
            ])
        #expect(
            seats.allSatisfy {
                $0.isInserted && $0.managedObjectContext === context && ($0 as? Seat)?.wasGivenContext != false
            })
        #expect(seats.map { $0.entity.name } == seats.map { "\(type(of: $0))" })
        #expect((seats[5] as? Stool)?.legs == 3 && seats[5].value(forKey: "name") as? String == "stool")
        #expect((seats[7] as? Bench)?.isOwn == true)
        try context.save()
    }

    @Test("Nothing is held too often: objects that were made go when the program lets go of them")
    func balance() throws {
        weak var lost: NSManagedObject?
        weak var also: Stool?
        weak var kept: NSManagedObjectContext?
        try {
            let stack = try stack()
            let type: NSManagedObject.Type = Stool.self
            for _ in 0..<100 {
                let (one, other) = (type.init(context: stack.context), make(Stool.self, in: stack.context))
                lost = one
                also = other
            }
            try stack.context.save()
            kept = stack.context
        }()
        #expect(lost == nil && also == nil && kept == nil)
    }
}
