// Prefetching in a child: everything a level needs is asked of the parent at once.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct ChildPrefetchTests {
    private let counter = StatementLog()
    private let stack: Stack

    init() throws { stack = try Stack(undo: false, options: counter.options) }

    private func hospital(_ count: Int) throws {
        for index in 0..<count {
            let ward = stack.context.make("Ward", ["name": "\(index)"])
            for bed in 0..<3 {
                let patient = stack.context.make("Patient", ["name": "\(index) \(bed)", "ward": ward])
                stack.context.make("Visit", ["note": "v"]).setValue(patient, forKey: "patient")
            }
        }
        try stack.context.save()
        stack.context.reset()
    }

    private func descendant(_ depth: Int) -> [NSManagedObjectContext] {
        let top = stack.another()
        top.stalenessInterval = 0
        return (0..<depth).reduce([top]) { line, _ in line + [line[line.count - 1].child()] }
    }

    private func request(_ paths: [String], _ name: String? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
        request.relationshipKeyPathsForPrefetching = paths
        if let name { request.predicate = NSPredicate(format: "name == %@", name) }
        return request
    }

    @Test("8.10 Prefetching to-manys takes one statement a relationship at any depth", arguments: 0...2, [true, false])
    func statements(depth: Int, areAll: Bool) throws {
        try hospital(300)
        let line = descendant(depth)
        let request = request(["patients.visits"])
        if !areAll { request.predicate = NSPredicate(format: "name != 'none'") }
        var wards: [NSManagedObject] = []
        let fetching = try counter.count { wards = try line[depth].fetch(request) }
        #expect(fetching == 3)
        let reading = counter.count {
            #expect(wards.allSatisfy { $0.members("patients").count == 3 })
            #expect(wards.allSatisfy { $0.members("patients").allSatisfy { $0.notes() == ["v"] } })
        }
        #expect(reading == 0)
        #expect(wards.count == 300)
    }

    @Test("A parent that has the owners and not their members reads these together too")
    func knownOwners() throws {
        try hospital(100)
        let line = descendant(1)
        let held = try line[0].all("Ward")
        for ward in held { _ = ward.makeToManyState(try #require(ward.toManyIndex("patients"))) }
        var wards: [NSManagedObject] = []
        #expect(try counter.count { wards = try line[1].fetch(request(["patients"])) } == 2)
        #expect(wards.allSatisfy { $0.members("patients").count == 3 })
    }

    @Test("The members are those that the parent has, its unsaved changes included", arguments: [true, false])
    func changes(loaded: Bool) throws {
        try hospital(4)
        let line = descendant(2)
        let parent = line[1]
        let wards = try (0..<4).map { try #require(try parent.named("\($0)", "Ward")) }
        if loaded { for ward in wards { _ = ward.members("patients") } }
        let moved = try #require(try parent.named("0 1"))
        moved.setValue(wards[1], forKey: "ward")
        try #require(try parent.named("2 0")).setValue("renamed", forKey: "name")
        parent.delete(try #require(try parent.named("2 1")))
        parent.make("Patient", ["name": "new"]).setValue(wards[3], forKey: "ward")
        let fresh = parent.make("Ward", ["name": "4"])
        try #require(try parent.named("3 2")).setValue(fresh, forKey: "ward")
        parent.processPendingChanges()
        let found = try line[2].fetch(request(["patients"])).sorted { $0.name ?? "" < $1.name ?? "" }
        let names = found.map { $0.members("patients").compactMap(\.name).sorted() }
        #expect(
            names == [
                ["0 0", "0 2"], ["0 1", "1 0", "1 1", "1 2"], ["2 2", "renamed"], ["3 0", "3 1", "new"], ["3 2"],
            ])
        let last = try #require(found.last)
        last.setValue(NSSet(), forKey: "patients")
        #expect(last.changedValues().keys.sorted() == ["patients"])
        try line[2].save()
        #expect(fresh.members("patients").isEmpty)
        try parent.save()
        try line[0].save()
        let reader = stack.another()
        let patients = try reader.all("Patient")
        #expect(patients.filter { $0.value(forKey: "ward") == nil }.map(\.name) == ["3 2"])
    }
}
