// Prefetched members are those that an object reads by itself, whatever share of the rows they are.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct PrefetchAgreementTests {
    /// Wards of 0 to 6 patients each, and more patients without ward.
    private func filled(_ type: String, wards: Int, unassigned: Int) throws -> Stack {
        let stack = try Stack(type)
        for number in 0..<wards {
            let ward = stack.context.make("Ward", ["name": "W\(number)"])
            for patient in 0..<number * 5 % 7 {
                _ = stack.context.make("Patient", ["name": "P\(number)-\(patient)", "ward": ward])
            }
        }
        for number in 0..<unassigned { _ = stack.context.make("Patient", ["name": "U\(number)"]) }
        try stack.context.save()
        return stack
    }

    private func members(_ wards: [NSManagedObject]) -> [String: [String]] {
        var found: [String: [String]] = [:]
        for ward in wards {
            let patients = ward.value(forKey: "patients") as? Set<NSManagedObject> ?? []
            found[ward.value(forKey: "name") as? String ?? ""] =
                patients.compactMap { $0.value(forKey: "name") as? String }.sorted()
        }
        return found
    }

    private func agree(_ stack: Stack, _ change: (NSFetchRequest<NSManagedObject>) -> Void) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
        change(request)
        let (plain, prefetching) = (stack.another(), stack.another())
        let expected = members(try plain.fetch(request))
        request.relationshipKeyPathsForPrefetching = ["patients"]
        let before = stack.statements
        let wards = try prefetching.fetch(request)
        #expect(wards.isEmpty || members(wards) == expected)
        if stack.coordinator.persistentStores[0].type == NSSQLiteStoreType {
            #expect(stack.statements == before + (wards.isEmpty ? 1 : 2))
        }
        #expect(wards.count == expected.count)
        // Once more, as objects that are there.
        #expect(members(wards) == expected)
        withExtendedLifetime((plain, prefetching)) {}
    }

    @Test(
        "8.10 All owners, some of them, few members among many rows: prefetching finds what reading finds",
        arguments: StoreMaker.types)
    func agreement(_ type: String) throws {
        // The store that chooses between two ways by the share of the rows is asked for many.
        let many = type == NSSQLiteStoreType ? [(150, 0), (150, 3000)] : [(40, 0), (40, 80)]
        for (wards, unassigned) in [(0, 3), (1, 0), (7, 0), (7, 40)] + many {
            let stack = try filled(type, wards: wards, unassigned: unassigned)
            try agree(stack) { _ in }
            try agree(stack) { $0.predicate = NSPredicate(format: "name ENDSWITH '3'") }
            try agree(stack) {
                $0.fetchLimit = 5
                $0.fetchOffset = 2
                $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            }
            try agree(stack) { $0.returnsObjectsAsFaults = false }
        }
    }

    @Test("8.10 Owners deleted or added elsewhere meanwhile do not disturb a prefetch")
    func gaps() throws {
        let stack = try filled(NSSQLiteStoreType, wards: 30, unassigned: 0)
        for ward in try stack.context.all("Ward") where (ward.value(forKey: "name") as? String)?.hasSuffix("5") == true
        {
            stack.context.delete(ward)
        }
        try stack.context.save()
        try agree(stack) { _ in }
        // A context in which an owner is deleted but not saved fetches the others only.
        let other = stack.another()
        let gone = try #require(try other.all("Ward").first)
        let left = Set(members(try other.all("Ward").filter { $0 !== gone }).keys)
        other.delete(gone)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
        request.relationshipKeyPathsForPrefetching = ["patients"]
        let found = try other.fetch(request)
        #expect(Set(members(found).keys) == left)
    }
}
