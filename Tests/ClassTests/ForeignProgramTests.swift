// Programs with models and classes of their own, on two threads, with nothing held between steps.

import CoreDataForeign
import Foundation
import Testing

import CoreData

@Suite struct ForeignProgramTests {
    @Test(
        "Notes: two threads write into one folder with shared, unique tags, and find, move and delete what they wrote")
    func notebook() async throws {
        let stack = try ForeignStack(notebookModel)
        try stack.step { CoreDataForeign.Folder(context: $0).title = "Inbox" }
        try await stack.twice(40) { thread, round in
            try stack.step { context in
                let inbox = try #require(try context.fetch(CoreDataForeign.Folder.fetchRequest()).first)
                let note = Note(context: context)
                note.text = "note \(thread)-\(round)"
                note.stars = Int32(round % 5)
                inbox.addToNotes(note)
                let request = Tag.fetchRequest()
                request.predicate = NSPredicate(format: "name == %@", "tag \(round % 4)")
                let tag = try context.fetch(request).first ?? Tag(context: context)
                if tag.name == nil { tag.name = "tag \(round % 4)" }
                note.tags = [tag]
            }
        }
        try stack.step { context in
            #expect(try context.count(for: Note.fetchRequest()) == 80)
            #expect(try context.fetch(Tag.fetchRequest()).compactMap(\.name).sorted() == (0..<4).map { "tag \($0)" })
            let request = Note.fetchRequest()
            request.predicate = NSPredicate(
                format: "stars >= 3 AND ANY tags.name == %@ AND folder.title ==[c] 'inbox'", "tag 1")
            request.sortDescriptors = [
                NSSortDescriptor(key: "stars", ascending: false), NSSortDescriptor(key: "text", ascending: true),
            ]
            let found = try context.fetch(request)
            #expect(found.count == 8 && found.allSatisfy { $0.tags.first?.name == "tag 1" && $0.created != nil })
            #expect(found.map(\.stars) == found.map(\.stars).sorted(by: >))
            let inbox = try #require(found.first?.folder)
            #expect(inbox.notes.count == 80)
            let done = CoreDataForeign.Folder(context: context)
            done.title = "Done"
            for note in found { note.folder = done }
            #expect(inbox.notes.count == 72 && done.notes == Set(found))
        }
        try stack.step { context in
            let request = CoreDataForeign.Folder.fetchRequest()
            request.predicate = NSPredicate(format: "notes.@count > 10")
            for folder in try context.fetch(request) { context.delete(folder) }
        }
        try stack.step { context in
            let (notes, tags) = (try context.fetch(Note.fetchRequest()), try context.fetch(Tag.fetchRequest()))
            #expect(notes.count == 8 && tags.map(\.notes.count).reduce(0, +) == 8)
            #expect(Set(notes.compactMap(\.folder?.title)) == ["Done"])
        }
    }

    @Test("Orders: lines keep their order, rules of the model hold, two threads sell to one customer")
    func shop() async throws {
        let stack = try ForeignStack(Shop.model)
        try stack.step { Shop.Customer(context: $0).email = "ada@example.org" }
        try await stack.twice(30) { thread, round in
            try stack.step { context in
                let order = Shop.Order(context: context)
                order.number = Int64(thread * 1000 + round)
                order.total = Decimal(round) + Decimal(5) / 10
                order.customer = try context.fetch(NSFetchRequest<Shop.Customer>(entityName: "Customer")).first
                order.lines = (0..<3).map { place in
                    let line = Shop.Line(context: context)
                    line.article = "article \(place)"
                    return line
                }
            }
            try stack.step { context in
                let request = NSFetchRequest<Shop.Order>(entityName: "Order")
                request.predicate = NSPredicate(format: "number == %lld", Int64(thread * 1000 + round))
                let first = Shop.Line(context: context)
                first.article = "first"
                try context.fetch(request).first?.insertIntoLines(first, at: 0)
            }
        }
        try stack.step { context in
            let request = NSFetchRequest<Shop.Order>(entityName: "Order")
            request.predicate = NSPredicate(format: "customer.email BEGINSWITH 'ada' AND total > 20")
            request.sortDescriptors = [
                NSSortDescriptor(key: "total", ascending: false), NSSortDescriptor(key: "number", ascending: true),
            ]
            let orders = try context.fetch(request)
            #expect(orders.count == 20 && orders[0].total == Decimal(295) / 10)
            for order in orders {
                #expect(order.lines.map(\.article) == ["first", "article 0", "article 1", "article 2"])
            }
            #expect(orders.first?.customer?.orders.count == 60)
        }
        for (code, deed) in Self.refused {
            #expect("code \(code)") { try stack.step(deed) } throws: {
                ($0 as NSError).code == code && !"\($0)".contains("(null)")
            }
        }
        try stack.step { context in
            for order in try context.fetch(NSFetchRequest<Shop.Order>(entityName: "Order")) { context.delete(order) }
        }
        try stack.step { context in
            #expect(try context.count(for: NSFetchRequest<Shop.Line>(entityName: "Line")) == 0)
            for customer in try context.fetch(NSFetchRequest<Shop.Customer>(entityName: "Customer")) {
                context.delete(customer)
            }
        }
        #expect(try stack.step { try $0.count(for: NSFetchRequest<Shop.Customer>(entityName: "Customer")) } == 0)
    }

    /// What the shop's model forbids, with the code of its error.
    private static let refused: [(Int, @Sendable (NSManagedObjectContext) throws -> Void)] = [
        (1570, { Shop.Order(context: $0).number = 7 }),
        (1670, { Shop.Customer(context: $0).email = "a" }),
        (1620, { Shop.Line(context: $0).pieces = 0 }),
        (
            1600,
            { context in
                for customer in try context.fetch(NSFetchRequest<Shop.Customer>(entityName: "Customer")) {
                    context.delete(customer)
                }
            }
        ),
    ]

    @Test("Vehicles: objects are of their entities' classes, and a context that merges sees what another thread did")
    func garage() async throws {
        let stack = try ForeignStack(garageModel)
        let reader = stack.container.newBackgroundContext()
        reader.automaticallyMergesChangesFromParent = true
        try await stack.twice(20) { thread, round in
            try stack.step { context in
                let vehicle: Vehicle = thread == 0 ? Car(context: context) : Truck(context: context)
                vehicle.plate = "\(thread)-\(round)"
                let bay = Bay(context: context)
                bay.number = Int32(thread * 100 + round)
                bay.vehicle = vehicle
            }
        }
        try reader.performAndWait {
            let request = NSFetchRequest<Vehicle>(entityName: "Vehicle")
            request.sortDescriptors = [NSSortDescriptor(key: "plate", ascending: true)]
            let vehicles = try reader.fetch(request)
            #expect(vehicles.count == 40 && vehicles.filter { $0 is Car }.count == 20)
            #expect(vehicles.map(\.wheels).reduce(0, +) == 200 && vehicles.compactMap { $0.bay?.vehicle }.count == 40)
            #expect(try reader.fetch(NSFetchRequest<Truck>(entityName: "Truck")).count == 20)
        }
        // A car takes the place of a truck, and the truck is sold.
        try await stack.twice(20) { thread, round in
            guard thread == 0 else { return }
            try stack.step { context in
                let request = NSFetchRequest<Vehicle>(entityName: "Vehicle")
                request.predicate = NSPredicate(format: "plate IN %@", ["0-\(round)", "1-\(round)"])
                request.sortDescriptors = [NSSortDescriptor(key: "plate", ascending: true)]
                let found = try context.fetch(request)
                let bay = found[1].bay
                found[0].bay = bay
                #expect(found[1].bay == nil && bay?.vehicle is Car)
                context.delete(found[1])
            }
        }
        try reader.performAndWait {
            let bays = try reader.fetch(NSFetchRequest<Bay>(entityName: "Bay"))
            #expect(bays.count == 40 && bays.filter { $0.vehicle == nil }.count == 20)
            #expect(bays.compactMap(\.vehicle).allSatisfy { $0 is Car && $0.bay?.number ?? 0 >= 100 })
            #expect(try reader.count(for: NSFetchRequest<Truck>(entityName: "Truck")) == 0)
        }
    }
}
