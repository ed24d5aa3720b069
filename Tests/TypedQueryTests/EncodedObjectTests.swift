// Managed objects as JSON: names, types, nil, relationships, what leaves a block, and how many statements it takes.

import CoreDataSQLite
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Encoded objects") struct EncodedObjectTests {
    private let order = [SortDescriptor(\Ship.crew)]

    private func json(_ value: some Encodable, _ change: (JSONEncoder) -> Void = { _ in }) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        change(encoder)
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private struct ShipForm: Encodable {
        struct Master: Encodable {
            struct Chief: Encodable { let name: String }
            let name: String
            let age: Int?
            let chief: Chief?
        }
        let name: String?
        let nick: String?
        let crew: Int
        let guns: Int?
        let length: Double
        let isAfloat: Bool
        let launched: Date?
        let tag: UUID?
        let flag: Int16
        let rig: String?
        let master: Master?

        init(_ ship: Ship) {
            (name, nick, crew, guns, length) = (ship.name, ship.nick, ship.crew, ship.guns, ship.length)
            (isAfloat, launched, tag, flag, rig) = (
                ship.isAfloat, ship.launched, ship.tag, ship.flag.rawValue, ship.rig?.rawValue
            )
            master = ship.master.map { master in
                Master(name: master.name, age: master.age, chief: master.chief.map { .init(name: $0.name) })
            }
        }
    }

    @Test("An object is encoded as a structure with the same fields is; nil is left out", arguments: Harbour.types)
    func same(_ type: String) throws {
        let stack = try Harbour.stack(type)
        for context in [stack.context, stack.another()] {
            let ships = try Ship.all(sortedBy: order, in: context)
            for change in [{ _ in }, { $0.dateEncodingStrategy = .iso8601 }] as [(JSONEncoder) -> Void] {
                let wanted = try json(ships.map(ShipForm.init), change)
                let encoded = try ships.encoded(
                    \.name, \.nick, \.crew, \.guns, \.length, \.isAfloat, \.launched, \.tag, \.flag, \.rig,
                    \.master?.name, \.master?.age,
                    \.master?.chief?.name)
                #expect(try json(encoded, change) == wanted)
                #expect(try encoded.count == 12 && json(Array(encoded), change) == wanted)
            }
            for ship in ships {
                let alone = try json(ship.encoded(\.crew, \.master?.name))
                let among = try ships.encoded(\.crew, \.master?.name)[ship.crew + 2]
                #expect(try json(among) == alone)
            }
        }
    }

    @Test("Unsaved values count, also of new objects; null is written where it is wanted", arguments: Harbour.types)
    func unsaved(_ type: String) throws {
        let stack = try Harbour.stack(type)
        let context = stack.context
        let form = EncodingForm<Ship>(\.name, \.nick, \.master?.name).writingNulls()
        let ship = try #require(try Ship.first(where: NSPredicate(format: "crew == -2"), in: context))
        #expect(try json(ship.encoded(form)) == #"{"master":null,"name":"Ada","nick":null}"#)
        let sailor = context.make("Sailor", ["name": "Ylva"])
        ship.setValue(sailor, forKey: "master")
        ship.name = "Ulv"
        #expect(try json(ship.encoded(form)) == #"{"master":{"name":"Ylva"},"name":"Ulv","nick":null}"#)
        let new = try #require(context.make("Ship", ["crew": 40]) as? Ship)
        #expect(try json(new.encoded(\.name, \.crew, \.master?.name)) == #"{"crew":40}"#)
        let child = context.child()
        #expect(try json(Ship.all(in: child).encoded(\.name)).contains(#"{"name":"Ulv"}"#))
        #expect(try json([Ship]().encoded(\.name)) == "[]")
        withExtendedLifetime(child) {}
    }

    @Test(
        "Members of a to-many are a list: ordered ones in their order, others as they are sorted",
        arguments: Harbour.types)
    func members(_ type: String) throws {
        let stack = try Harbour.stack(type)
        let form = EncodingForm<Ship>(\.crew)
            .each(\.moorings, \.port)
            .each(
                \.cargo, EncodingForm<Cask>(\.label, \.owner?.name),
                sortedBy: [SortDescriptor(\.label, order: .reverse)]
            )
            .adding(\.cargo.count, as: "casks").adding(\.master?.chief?.name, as: "chief")
        let context = stack.another()
        let ship = try #require(try Ship.first(where: NSPredicate(format: "crew == 9"), in: context))
        #expect(
            try json(ship.encoded(form)) == """
                {"cargo":[{"label":"cask 2","owner":{"name":""}},{"label":"cask 1"},{"label":"cask 0","owner":{"name":"Åsa"}}],"casks":3,\
                "chief":"Bo","crew":9,"moorings":[{"port":"Oslo"},{"port":"Bergen"}]}
                """)
        let values = EncodingForm<Ship>(\.crew).listing(
            \.cargo, \.owner?.name, sortedBy: [SortDescriptor(\.label, order: .reverse)]
        )
        .listing(\.moorings, \.port)
        let listed = #"{"cargo":["","Åsa"],"crew":9,"moorings":["Oslo","Bergen"]}"#
        #expect(try json(ship.encoded(values)) == listed)
        let written =
            try JSONSerialization.jsonObject(with: ship.encoded(values).json(by: JSONEncoder())) as? NSDictionary
        #expect(try written == JSONSerialization.jsonObject(with: Data(listed.utf8)) as? NSDictionary)
        let deep = EncodingForm<Sailor>(\.name).each(
            \.ships, EncodingForm<Ship>(\.name).each(\.cargo, \.label), sortedBy: order)
        let sailors = try Sailor.all(sortedBy: [SortDescriptor(\.name)], in: context)
        let text = try json(sailors.encoded(deep))
        #expect(
            text.contains(#"{"cargo":[{"label":"cask 0"}],"name":"ADA"}"#) && text.hasPrefix(#"[{"name":"","ships":["#))
        let plain = EncodingForm<NSManagedObject>()
        #expect(
            try json(sailors[0].encoded(\.name, \.objectID)).contains(
                sailors[0].objectID.uriRepresentation().absoluteString))
        #expect(try json((sailors as [NSManagedObject]).encoded(plain)) == "[{},{},{}]")
        withExtendedLifetime(context) {}
    }

    @Test("Members are in the order in which a fetch sorts their rows, nil first", arguments: Harbour.types)
    func memberOrder(_ type: String) throws {
        let stack = try Harbour.stack(type)
        let context = stack.another()
        let orders: [(SortOrder) -> SortDescriptor<Ship>] = [
            { SortDescriptor(\.name, order: $0) }, { SortDescriptor(\.name, comparator: .localized, order: $0) },
            { SortDescriptor(\.nick, order: $0) }, { SortDescriptor(\.guns, order: $0) },
            { SortDescriptor(\.bell, order: $0) }, { SortDescriptor(\.length, order: $0) },
            { SortDescriptor(\.launched, order: $0) }, { SortDescriptor(\.crewOf32, order: $0) },
        ]
        for sailor in try Sailor.all(in: context) {
            for order in orders {
                for direction in [SortOrder.forward, .reverse] {
                    let sorting = [order(direction), SortDescriptor(\.crew)]
                    let wanted = try Ship.find(
                        where: NSPredicate(format: "master == %@", sailor), sortedBy: sorting, in: context)
                    let form = EncodingForm<Sailor>(\.age).listing(\.ships, \.crew, sortedBy: sorting)
                    #expect(
                        try json(sailor.encoded(form)).contains(
                            "\"ships\":[\(wanted.map { "\($0.crew)" }.joined(separator: ","))]"))
                }
            }
        }
    }

    @Test("Relationships are read for all objects at once, one statement each, and nothing is read twice")
    func statements() throws {
        let stack = try Harbour.stack(NSSQLiteStoreType)
        let reader = stack.another()
        reader.stalenessInterval = 0
        let form = EncodingForm<Ship>(\.name, \.master?.name, \.master?.chief?.name).each(
            \.cargo, \.label, \.owner?.age
        ).each(\.moorings, \.port)
        let ids = try Ship.all(in: reader).map(\.objectID)
        reader.reset()
        let faults = ids.compactMap { reader.object(with: $0) as? Ship }
        // The ships, their masters, the masters' chiefs, the cargo, its owners, the moorings.
        #expect(try stack.statements { _ = try faults.encoded(form) } <= 6)
        #expect(try stack.statements { _ = try faults.encoded(form) } == 0)
        withExtendedLifetime(faults) {}
    }

    @Test("What was encoded leaves the block, and later changes do not reach it")
    func leaves() async throws {
        let stack = try Harbour.stack(NSSQLiteStoreType)
        let context = stack.another()
        let form = EncodingForm<Ship>(\.name, \.master?.name).each(\.moorings, \.port)
        let encoded = try await context.perform {
            let ships = try Ship.all(sortedBy: [SortDescriptor(\.crew)], in: context)
            let encoded = try ships.encoded(form)
            for ship in ships { context.delete(ship) }
            try context.save()
            return encoded
        }
        async let first = json(encoded)
        async let second = json(encoded)
        let texts = try await [first, second]
        #expect(
            texts[0] == texts[1]
                && texts[0].hasPrefix(
                    #"[{"moorings":[],"name":"Ada"},{"master":{"name":"Bo"},"moorings":[{"port":"Oslo"}],"name":"ADA"}"#
                ))
    }

    @Test("What cannot be encoded is told with its path", arguments: Harbour.types)
    func refusals(_ type: String) throws {
        let stack = try Harbour.stack(type)
        let context = stack.context
        let ship = try #require(try Ship.first(where: NSPredicate(format: "crew == 9"), in: context))
        func refused(_ words: String, _ path: [String] = [], _ body: () throws -> Void) {
            let error = #expect(throws: EncodingError.self, performing: body)
            guard case .invalidValue(_, let told)? = error else { return }
            #expect(told.debugDescription.contains(words), "\(told)")
            #expect(told.codingPath.map(\.stringValue) == path)
        }
        refused("“name”") { _ = try ship.encoded(\.loud) }
        refused("ends in an object", ["master"]) { _ = try ship.encoded(\.master) }
        refused("ends in an object", ["master", "chief"]) { _ = try ship.encoded(\.master?.chief) }
        refused("each(", ["cargo"]) { _ = try ship.encoded(\.cargo) }
        refused("adding(", ["cargo", "@count"]) { _ = try ship.encoded(\.cargo.count) }
        refused("second value", ["name"]) { _ = try ship.encoded(\.name, \.name) }
        refused("second value", ["name"]) { _ = try ship.encoded(EncodingForm(\.name).adding(\.nick, as: "name")) }
        refused("no entity in common") {
            _ = try [ship, try #require(ship.master)].encoded(EncodingForm<NSManagedObject>())
        }
        context.delete(ship)
        try context.save()
        refused("was deleted") { _ = try ship.encoded(\.name) }
        let other = try #require(try Ship.first(where: NSPredicate(format: "crew == 8"), in: context))
        let twin = stack.another()
        twin.delete(try twin.existingObject(with: other.objectID))
        try twin.save()
        context.refresh(other, mergeChanges: false)
        refused("was deleted") { _ = try [other].encoded(\.name) }
    }
}
