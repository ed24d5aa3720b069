// Orders of texts by a locale, of Swift's sort descriptors.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Sort descriptors by a locale") struct TextOrderTests {
    @Test(
        "A text in the order of a locale sorts alike in a store, with unsaved objects, in arrays of either kind, and by its key",
        arguments: Harbour.types)
    func localized(_ type: String) throws {
        let stack = try Harbour.stack(type)
        let context = stack.context
        for (name, nick) in [("a10", "é1"), ("Éa", "É10"), ("A9", "e9"), ("äb", nil)] {
            let ship = context.make("Ship", ["name": name])
            ship.setValue(nick, forKey: "nick")
        }
        for order in [SortOrder.forward, .reverse] {
            try sortsAlike(
                context, SortDescriptor(\.name, comparator: .localizedStandard, order: order), "name",
                "localizedStandardCompare:")
            try sortsAlike(
                context, SortDescriptor(\.name, comparator: .localized, order: order), "name", "localizedCompare:")
            try sortsAlike(
                context, SortDescriptor(\.nick, comparator: .localizedStandard, order: order), "nick",
                "localizedStandardCompare:")
            try sortsAlike(
                context, SortDescriptor(\.nick, comparator: .localized, order: order), "nick", "localizedCompare:")
            try sortsAlike(
                context, SortDescriptor(\.master?.name, comparator: .localized, order: order), "master.name",
                "localizedCompare:")
        }
        let standard = try Ship.all(sortedBy: [SortDescriptor(\.name, comparator: .localizedStandard)], in: context)
            .map(\.name)
        #expect(standard.filter { $0 == "a10" || $0 == "A9" } == ["A9", "a10"], "Numbers count by their value.")
        let plain = try Ship.all(sortedBy: [SortDescriptor(\.name)], in: context).map(\.name)
        #expect(
            plain
                == standard.sorted {
                    Array($0.unicodeScalars.map(\.value)).lexicographicallyPrecedes($1.unicodeScalars.map(\.value))
                })
    }

    private func sortsAlike(
        _ context: NSManagedObjectContext, _ descriptor: SortDescriptor<Ship>, _ key: String, _ selector: String
    ) throws {
        let (made, keyed) = (
            NSSortDescriptor(descriptor),
            NSSortDescriptor(key: key, ascending: descriptor.order == .forward, selector: selector)
        )
        #expect(made.key == key && made.selector == selector && made.ascending == keyed.ascending)
        let texts = { (ships: [Ship]) in ships.map { $0.value(forKeyPath: key) as? String ?? "-" } }
        let request = NSFetchRequest<Ship>(entityName: "Ship")
        request.sortDescriptors = [keyed]
        let expected = texts(try context.fetch(request))
        #expect(Set(expected).count > 3)
        request.sortDescriptors = [made]
        #expect(texts(try context.fetch(request)) == expected, "\(selector)")
        let ships = try Ship.all(in: context)
        #expect(texts((ships as NSArray).sortedArray(using: [made]).compactMap { $0 as? Ship }) == expected)
        #expect(texts(ships.sorted(using: descriptor)).filter { $0 != "-" } == expected.filter { $0 != "-" })
        #expect(texts(try Ship.all(sortedBy: [descriptor], in: context)) == expected)
        #expect(
            texts(
                (ships as NSArray).sortedArray(using: [try #require(made.reversedSortDescriptor as? NSSortDescriptor)])
                    .compactMap { $0 as? Ship }
            )
            .filter { $0 != "-" }.first == expected.filter { $0 != "-" }.last)
    }
}
