// Predicates made by Swift's macro: what they find in stores is what Foundation says of the objects.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Swift's predicates") struct SwiftPredicateTests {
    /// Whose model tells the names.
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Harbour.model())

    /// Asks every ship by Foundation's own evaluation, by the translated predicate, and both stores by a fetch.
    private func check(
        _ predicate: Foundation.Predicate<Ship>, finds wanted: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try Harbour.check(predicate, finds: wanted, sourceLocation: sourceLocation)
    }

    @Test("Comparisons and logic")
    func comparisons() throws {
        try check(#Predicate { $0.crew > 3 && $0.isAfloat }, finds: "crew > 3 AND isAfloat == 1")
        try check(#Predicate { $0.crew <= 3 || !$0.isAfloat }, finds: "crew <= 3 OR NOT isAfloat == 1")
        try check(#Predicate { $0.name == "Ada" }, finds: "name == \"Ada\"")
        try check(#Predicate { $0.name != "Ada" }, finds: "name != \"Ada\"")
        try check(#Predicate { 4 >= $0.crew })
        try check(#Predicate { $0.isAfloat == false })
        try check(#Predicate { ($0.crew > 3) == $0.isAfloat })
        try check(#Predicate { ($0.crew > 3) != true })
        try check(#Predicate { $0.length < 1.5 })
    }

    @Test("A condition inside a filter of what is filtered has a variable of its own")
    func chainedFilters() throws {
        try check(
            #Predicate {
                $0.cargo.filter { $0.weight >= 0 }.filter { cask in
                    cask.owner.flatMap { $0.ships.contains { $0.length < cask.weight } } ?? false
                }.count == 1
            })
    }

    @Test("Captured values: dates, UUIDs, enumerations, collections, nil")
    func captured() throws {
        let (date, tag, tags) = (
            Date(timeIntervalSinceReferenceDate: 4000), Harbour.tags[2], Array(Harbour.tags.prefix(2))
        )
        let (red, brig, names, crews): (Flag, Rig?, Set<String>, [Int]) = (.red, .brig, ["Ada", "Echo"], [-1, 4, 7])
        let (some, nothing): (UUID?, String?) = (Harbour.tags[1], nil)
        try check(#Predicate { $0.tag == tag })
        try check(#Predicate { $0.tag == some })
        try check(#Predicate { $0.nick == nothing }, finds: "nick == nil")
        try check(#Predicate { $0.flag == red }, finds: "flag == 2")
        try check(#Predicate { $0.rig == brig }, finds: "rig == \"brig\"")
        try check(#Predicate { names.contains($0.name) })
        try check(#Predicate { crews.contains($0.crew) }, finds: "crew IN {-1, 4, 7}")
        try check(#Predicate { ship in ship.tag.flatMap { tags.contains($0) } ?? false })
        try check(
            #Predicate { ship in ship.launched.flatMap { $0 > date } == true },
            finds: "launched != nil AND launched > CAST(4000.000000, \"NSDate\")")
        let optional: [Int?] = [0, nil]
        try check(#Predicate { optional.contains($0.guns) })
        let flags: [Flag] = [.red, .black]
        try check(#Predicate { flags.contains($0.flag) }, finds: "flag IN {2, 3}")
        let numbers = ["Ada": 1]
        try check(#Predicate { $0.crew < numbers["Ada"] ?? 0 }, finds: "crew < 1")
        try check(#Predicate { $0.flag.rawValue == 2 }, finds: "flag == 2")
    }

    @Test("Optionals: chaining, substitutes, flatMap, forced unwrapping")
    func optionals() throws {
        try check(#Predicate { $0.master?.name == "Bo" }, finds: "master.name == \"Bo\"")
        try check(#Predicate { $0.master?.chief?.name != "Bo" })
        try check(
            #Predicate { $0.master?.chief != nil && $0.nick == nil }, finds: "master.chief != nil AND nick == nil")
        try check(#Predicate { ($0.guns ?? 0) > 9 }, finds: "guns > 9")
        try check(#Predicate { ($0.guns ?? 10) > 9 }, finds: "guns == nil OR guns > 9")
        try check(#Predicate { ($0.guns ?? 0) == 0 }, finds: "guns == nil OR guns == 0")
        try check(#Predicate { ($0.nick ?? "x") != "Ada" })
        try check(#Predicate { ($0.nick ?? $0.name) == "Ada" })
        try check(#Predicate { $0.nick?.contains("Old") ?? false }, finds: "nick != nil AND nick CONTAINS \"Old\"")
        try check(#Predicate { $0.nick?.contains("Old") ?? true })
        try check(#Predicate { $0.nick?.contains("Old") != true })
        try check(#Predicate { $0.nick?.contains("Old") == false })
        try check(#Predicate { $0.nick?.contains("Old") == nil }, finds: "NOT nick != nil")
        try check(#Predicate { $0.nick?.isEmpty == true })
        try check(#Predicate { ($0.nick?.count ?? 0) > 2 })
        try check(#Predicate { $0.isLit ?? false })
        try check(#Predicate { $0.isLit ?? true })
        try check(#Predicate { !($0.isLit ?? true) })
        try check(#Predicate { $0.isLit == nil })
        try check(#Predicate { $0.master.flatMap { $0.age } ?? 50 > 40 })
        try check(#Predicate { $0.guns.flatMap { $0 + 1 } == 7 })
        try check(#Predicate { $0.guns.flatMap { _ in 5 } == 5 })
        try check(#Predicate { $0.nick != nil && $0.nick! > "B" })
        try check(#Predicate { if let guns = $0.guns { guns > 9 } else { $0.isAfloat } })
    }

    @Test("Arithmetic, conditionals, ranges")
    func arithmetic() throws {
        try check(#Predicate { $0.crew * 2 - 1 > 5 }, finds: "(crew * 2) - 1 > 5")
        try check(#Predicate { $0.crew % 2 == 1 })
        try check(#Predicate { $0.crew / 2 == 1 })
        try check(#Predicate { $0.length / 2.0 > 0.7 })
        try check(#Predicate { -$0.crew < -4 }, finds: "0 - crew < -4")
        try check(#Predicate { ($0.isAfloat ? $0.crew : 0) > 2 })
        try check(#Predicate { $0.isAfloat ? $0.crew > 2 : $0.crew < 5 })
        try check(#Predicate { (2..<5).contains($0.crew) }, finds: "crew >= 2 AND crew < 5")
        try check(#Predicate { (2...5).contains($0.crew) }, finds: "crew BETWEEN {2, 5}")
        let (open, closed, from, upTo) = (1.0..<2.0, 0...3, 7..., ...2)
        try check(#Predicate { open.contains($0.length) })
        try check(#Predicate { closed.contains($0.crew) }, finds: "crew BETWEEN {0, 3}")
        try check(#Predicate { from.contains($0.crew) }, finds: "crew >= 7")
        try check(#Predicate { upTo.contains($0.crew) }, finds: "crew <= 2")
        try check(#Predicate { (-9..<$0.crew).contains(3) }, finds: "3 >= -9 AND 3 < crew")
    }

    @Test("Texts")
    func texts() throws {
        try check(#Predicate { $0.name.contains("da") }, finds: "name CONTAINS \"da\"")
        try check(#Predicate { $0.name.starts(with: "Ad") }, finds: "name BEGINSWITH \"Ad\"")
        try check(#Predicate { $0.name.localizedStandardContains("ANG") }, finds: "name CONTAINS[cd] \"ANG\"")
        let (same, before) = (ComparisonResult.orderedSame, ComparisonResult.orderedAscending)
        try check(#Predicate { $0.name.caseInsensitiveCompare("ada") == same }, finds: "name ==[c] \"ada\"")
        try check(#Predicate { $0.name.localizedCompare("Bella") == before })
        try check(#Predicate { $0.name.isEmpty }, finds: "name == \"\"")
        try check(#Predicate { $0.name.count == 3 }, finds: "length:(name) == 3")
        try check(#Predicate { $0.name.contains(/^[a-z]/) })
        try check(#Predicate { $0.name.contains($0.nick ?? "Ada") })
        try check(#Predicate { $0.name > "B" })
        try check(#Predicate { "Ada and Bella".contains($0.name) && !$0.name.isEmpty })
    }

    @Test("To-many relationships")
    func members() throws {
        try check(
            #Predicate { $0.cargo.contains { $0.weight > 10 } },
            finds: "SUBQUERY(cargo, $x, $x.weight > 10.0).@count > 0")
        try check(
            #Predicate { $0.cargo.allSatisfy { $0.weight < 10 } },
            finds: "SUBQUERY(cargo, $x, NOT $x.weight < 10.0).@count == 0")
        try check(#Predicate { $0.cargo.count > 1 }, finds: "cargo.@count > 1")
        try check(#Predicate { $0.cargo.isEmpty }, finds: "cargo.@count == 0")
        try check(#Predicate { $0.cargo.filter { $0.weight > 5 }.count == 2 })
        try check(#Predicate { $0.cargo.filter { $0.weight > 5 }.isEmpty })
        try check(#Predicate { $0.cargo.filter { $0.weight > 5 }.contains { $0.owner == nil } })
        try check(#Predicate { ship in ship.cargo.contains { $0.owner == ship.master } })
        try check(#Predicate { ship in ship.cargo.contains { $0.weight > ship.length } })
        try check(#Predicate { $0.cargo.contains { $0.owner.flatMap { $0.ships.contains { $0.crew > 8 } } ?? false } })
        try check(#Predicate { ship in ship.master.flatMap { $0.ships.contains(ship) } == true })
        try check(#Predicate { $0.master.flatMap { $0.ships.contains { $0.crew > 8 } } ?? false })
        try check(#Predicate { $0.moorings.contains { $0.port == "Bergen" } })
        let ports = ["Bergen", "Turku"]
        try check(#Predicate { $0.moorings.contains { ports.contains($0.port) } })
        let parts = ["da", "z"]
        try check(#Predicate { ship in parts.contains { ship.name.contains($0) } })
    }

    @Test("Casts of managed objects ask for the entity")
    func casts() throws {
        try check(#Predicate { $0 is Steamer }, finds: "entity IN {\"Steamer\"}")
        try check(
            #Predicate { ($0 as? Steamer).flatMap { $0.crew } == 3 }, finds: "entity IN {\"Steamer\"} AND crew == 3")
        try check(#Predicate { ($0 as? Steamer).flatMap { $0.crew } ?? 0 == 0 })
        try check(#Predicate { ($0 as? Steamer) == nil })
    }

    @Test("A part without a counterpart is named, and a key path without a name makes the fetch throw")
    func refusals() async throws {
        let dictionary = ["Ada": 1]
        let predicates: [(Foundation.Predicate<Ship>, String)] = [
            (
                #Predicate { $0.loud == "ADA" && dictionary[$0.name, default: 0] == 1 },
                "A dictionary's entry with a default value"
            ),
            (#Predicate { $0.name.utf8.count == 3 }, "A property of String"),
            (#Predicate { $0.launched.flatMap { $0.hashValue == 3 } ?? false }, "A property of Date"),
            (#Predicate { $0.moorings[0..<1].isEmpty }, "A part of a Array<Mooring> by places"),
        ]
        for (predicate, part) in predicates {
            let error = #expect(throws: CocoaError.self) { _ = try NSPredicate(translating: predicate) }
            #expect(
                error?.code == .formatting && error?.localizedDescription.contains(part) == true,
                "\(String(describing: error))")
        }
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPredicate(#Predicate<Ship> { $0.name.utf8.count == 3 })
        }
        let loud = NSPredicate(#Predicate<Ship> { $0.loud == "ADA" })
        for type in Harbour.types {
            let stack = try Harbour.stack(type)
            let error = #expect(throws: CocoaError.self) { try stack.context.crews(loud) }
            #expect(error?.code.rawValue == 134060 && "\(error as Any)".contains("name"))
        }
    }

    @Test("Expressions made by Swift's macro")
    func expressions() throws {
        let expression = try #require(NSExpression(#Expression<Ship, Int> { $0.crew * 3 + 1 }))
        #expect(expression.description == "(crew * 3) + 1")
        let ternary = try #require(NSExpression(#Expression<Ship, String> { $0.isAfloat ? "afloat" : $0.name }))
        #expect(ternary.description == "TERNARY(isAfloat == 1, \"afloat\", name)")
    }
}
