// What a did-change notification lets a program ask: the values from before the event (behaviours 3.5).

import CoreData
import CoreDataTestSupport
import Foundation
import Testing

@Suite struct EventStatements {
    /// What an object answers inside the notifications of its context.
    private final class Observer {
        var answers: [[String: Any]] = []
        var onFirst: () -> Void = {}
        private var token: (any NSObjectProtocol)?

        init(_ object: NSManagedObject, _ context: NSManagedObjectContext) {
            nonisolated(unsafe) let (observer, object) = (Unmanaged.passUnretained(self), object)
            token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
            ) { _ in
                let observer = observer.takeUnretainedValue()
                if observer.answers.isEmpty { observer.onFirst() }
                observer.answers.append(object.changedValuesForCurrentEvent())
            }
        }

        deinit { token.map { NotificationCenter.default.removeObserver($0) } }
    }

    private func stack(undo: Bool) throws -> Stack {
        // A context that is made later knows that somebody may observe it.
        _ = Notification.Name.NSManagedObjectContextObjectsDidChange
        return try Stack(undo: undo)
    }

    @Test(
        "3.5 Inside the notification changedValuesForCurrentEvent has the values from before its event",
        arguments: [false, true])
    func inside(_ undo: Bool) throws {
        let stack = try stack(undo: undo)
        let wards = ["North", "South"].map { stack.context.make("Ward", ["name": $0]) }
        let patient = stack.context.make("Patient", ["name": "Ada", "age": 30, "ward": wards[0]])
        try stack.context.save()
        let observers = [Observer(patient, stack.context), Observer(wards[0], stack.context)]
        for name in ["Bo", "Cy"] { patient.setValue(name, forKey: "name") }
        stack.context.processPendingChanges()
        patient.setValue(31, forKey: "age")
        patient.setValue(wards[1], forKey: "ward")
        stack.context.processPendingChanges()
        let answers = observers.map(\.answers)
        #expect(answers[0].map { $0.keys.sorted() } == [["name"], ["age", "ward"]])
        #expect(answers[0][0]["name"] as? String == "Ada" && answers[0][1]["age"] as? Int == 30)
        #expect(answers[0][1]["ward"] as? NSManagedObject === wards[0])
        #expect(answers[1][0].isEmpty && answers[1][1]["patients"] as? Set<NSManagedObject> == [patient])
        #expect(patient.changedValuesForCurrentEvent().isEmpty)
    }

    @Test("3.5 A notification of a save, of an insertion and of a deletion has them too", arguments: [false, true])
    func lives(_ undo: Bool) throws {
        let stack = try stack(undo: undo)
        let ward = stack.context.make("Ward", ["name": "North"])
        let patient = stack.context.make("Patient", ["name": "Ada", "ward": ward])
        let observer = Observer(patient, stack.context)
        try stack.context.save()
        #expect(observer.answers.count == 1 && observer.answers[0].keys.sorted() == ["name", "ward"])
        #expect(observer.answers[0]["name"] is NSNull && observer.answers[0]["ward"] is NSNull)
        patient.setValue("Bo", forKey: "name")
        try stack.context.save()
        #expect(observer.answers.count == 2 && observer.answers[1] as? [String: String] == ["name": "Ada"])
        stack.context.delete(ward)
        stack.context.processPendingChanges()
        #expect(observer.answers.count == 3 && observer.answers[2]["ward"] as? NSManagedObject === ward)
        stack.context.rollback()
        #expect(observer.answers.last?.isEmpty == true)
    }

    @Test(
        "3.5 Outside the notification it goes back to the last one, with and without an undo manager",
        arguments: [false, true])
    func outside(_ undo: Bool) throws {
        let stack = try stack(undo: undo)
        let patient = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        patient.setValue("Bo", forKey: "name")
        #expect(patient.changedValuesForCurrentEvent() as? [String: String] == ["name": "Ada"])
        stack.context.processPendingChanges()
        #expect(patient.changedValuesForCurrentEvent().isEmpty)
        patient.setValue("Cy", forKey: "name")
        patient.setValue(3, forKey: "age")
        let event = patient.changedValuesForCurrentEvent()
        #expect(event.count == 2 && event["age"] is NSNull && event["name"] as? String == "Bo")
    }

    @Test("3.5 What an observer changes is told with the event, and not counted twice")
    func changedByObserver() throws {
        let stack = try stack(undo: false)
        let patient = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        let observer = Observer(patient, stack.context)
        observer.onFirst = { patient.setValue(7, forKey: "age") }
        patient.setValue("Bo", forKey: "name")
        stack.context.processPendingChanges()
        stack.context.processPendingChanges()
        #expect(observer.answers.map { $0.keys.sorted() } == [["age", "name"], ["age"]])
    }

    @Test("3.5 An ordered to-many that was changed is told as it was, without a read for it")
    func ordered() throws {
        let stack = try stack(undo: false)
        let visits = (0..<3).map { stack.context.make("Visit", ["code": $0]) }
        let patient = stack.context.make("Patient", ["name": "Ada", "visits": NSOrderedSet(array: visits)])
        try stack.context.save()
        let observer = Observer(patient, stack.context)
        patient.mutableOrderedSetValue(forKey: "visits").moveObjects(at: IndexSet(integer: 2), to: 0)
        stack.context.processPendingChanges()
        stack.context.delete(visits[1])
        stack.context.processPendingChanges()
        #expect(observer.answers.map { $0.keys.sorted() } == [["visits"], ["visits"]])
        #expect((observer.answers[1]["visits"] as? NSOrderedSet)?.count == 3)
    }
}
