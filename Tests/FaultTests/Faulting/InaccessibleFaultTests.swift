// What a context is asked when the row of a fault is gone.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

/// Writes down which property each question names.
private final class Asking: NSManagedObjectContext, @unchecked Sendable {
    private(set) var names: [String?] = []

    override func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        names.append(property?.name)
        return true
    }
}

@Suite struct InaccessibleFaultTests {
    @Test("4.12 The property that was read or set is named; a fault that is loaded as a whole names none")
    func property() throws {
        let hospital = try Hospital(5)
        let context = Asking(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = hospital.stack.coordinator
        context.stalenessInterval = 0
        context.readsFaultsTogether = false
        let faults = hospital.ids.map { context.object(with: $0) }
        try hospital.write("DELETE FROM ZPATIENT")
        #expect(faults[0].name == nil)
        #expect(faults[1].one("ward") == nil)
        faults[2].setValue(3, forKey: "age")
        faults[3].willAccessValue(forKey: "born")
        try context.fulfill([faults[4]])
        #expect(context.names == ["name", "ward", "age", "born", nil])
    }
}
