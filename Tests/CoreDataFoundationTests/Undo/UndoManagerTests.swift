// What Foundation documents of UndoManager, rule by rule.

import CoreDataFoundation
import Foundation
import Testing

/// Something to change: each change registers its way back.
final class Counter {
    let undoManager: UndoManager
    var value = 0 {
        didSet {
            let old = oldValue
            undoManager.registerUndo(withTarget: self) { $0.value = old }
        }
    }
    init(_ undoManager: UndoManager) { self.undoManager = undoManager }
}

@Suite struct UndoManagerTests {
    let manager = UndoManager()
    let counter: Counter
    init() { counter = Counter(manager) }

    /// Makes each value an undo step of its own.
    func steps(_ values: Int...) {
        for value in values {
            counter.value = value
            manager.endEvent()
        }
    }

    @Test("What was registered in one event is undone and redone as one")
    func event() {
        counter.value = 1
        counter.value = 2
        #expect(manager.groupingLevel == 1)
        manager.undo()
        #expect(counter.value == 0)
        #expect(manager.groupingLevel == 0)
        #expect(!manager.canUndo)
        #expect(manager.canRedo)
        manager.redo()
        #expect(counter.value == 2)
        #expect(manager.canUndo)
        #expect(!manager.canRedo)
    }

    @Test("Events are undone last first, and redone first first")
    func order() {
        steps(1, 2, 3)
        var seen: [Int] = []
        for _ in 1...3 {
            manager.undo()
            seen.append(counter.value)
        }
        for _ in 1...3 {
            manager.redo()
            seen.append(counter.value)
        }
        #expect(seen == [2, 1, 0, 1, 2, 3])
        #expect(manager.undoCount == 3 && manager.redoCount == 0)
    }

    @Test("A new registration empties the redo stack, one made by an undo does not")
    func redoIsEmptied() {
        steps(1, 2)
        manager.undo()
        manager.undo()
        #expect(manager.redoCount == 2)
        manager.redo()
        #expect(manager.redoCount == 1)
        steps(7)
        #expect(manager.redoCount == 0)
        manager.redo()
        #expect(counter.value == 7)
    }

    @Test("Undoing and redoing nothing does nothing")
    func nothing() {
        manager.undo()
        manager.undoNestedGroup()
        manager.redo()
        #expect(!manager.canUndo && !manager.canRedo && manager.groupingLevel == 0)
    }

    @Test("An explicit group lies inside the event's group, so that both are undone at once")
    func nestedInEvent() {
        counter.value = 1
        manager.beginUndoGrouping()
        #expect(manager.groupingLevel == 2)
        counter.value = 2
        manager.endUndoGrouping()
        #expect(manager.groupingLevel == 1)
        manager.undo()
        #expect(counter.value == 0)
    }

    @Test("Without grouping by event each top-level group is a step")
    func explicitGroups() {
        manager.groupsByEvent = false
        for value in [1, 2] {
            manager.beginUndoGrouping()
            counter.value = value
            counter.value = value * 10
            manager.endUndoGrouping()
        }
        #expect(manager.undoCount == 2)
        manager.undo()
        #expect(counter.value == 10)
        manager.undo()
        #expect(counter.value == 0)
        manager.redo()
        #expect(counter.value == 10)
    }

    @Test("undo() closes the top-level group when it is the only one open, grouped by event or not")
    func undoCloses() {
        manager.groupsByEvent = false
        manager.beginUndoGrouping()
        counter.value = 5
        manager.undo()
        #expect(counter.value == 0 && manager.groupingLevel == 0)
    }

    @Test("undoNestedGroup takes back the last closed inner group alone")
    func nestedUndo() {
        counter.value = 1
        manager.beginUndoGrouping()
        counter.value = 2
        manager.endUndoGrouping()
        manager.undoNestedGroup()
        #expect(counter.value == 1)
        #expect(manager.groupingLevel == 1)
        manager.undo()
        #expect(counter.value == 0)
        manager.redo()
        manager.redo()
        #expect(counter.value == 2)
    }

    @Test("An end of event leaves groups alone that the caller opened")
    func endEvent() {
        manager.beginUndoGrouping()
        counter.value = 1
        manager.endEvent()
        #expect(manager.groupingLevel == 2)
        manager.endUndoGrouping()
        manager.endEvent()
        #expect(manager.groupingLevel == 0 && manager.undoCount == 1)
    }

    @Test("A group without actions leaves nothing to undo")
    func emptyGroups() {
        manager.beginUndoGrouping()
        manager.endUndoGrouping()
        manager.endEvent()
        #expect(!manager.canUndo && manager.undoCount == 0)
    }

    @Test("Disabling registration counts, and what is registered meanwhile is ignored")
    func disabling() {
        manager.disableUndoRegistration()
        manager.disableUndoRegistration()
        manager.enableUndoRegistration()
        #expect(!manager.isUndoRegistrationEnabled)
        counter.value = 1
        #expect(manager.groupingLevel == 0 && !manager.canUndo)
        manager.enableUndoRegistration()
        #expect(manager.isUndoRegistrationEnabled)
        counter.value = 2
        manager.undo()
        #expect(counter.value == 1)
    }

    @Test(
        "levelsOfUndo keeps the newest groups, set before or after",
        arguments: [(0, 5), (1, 1), (3, 3), (9, 5)], [true, false])
    func levels(_ limit: (levels: Int, kept: Int), _ before: Bool) {
        if before { manager.levelsOfUndo = limit.levels }
        steps(1, 2, 3, 4, 5)
        manager.levelsOfUndo = limit.levels
        #expect(manager.undoCount == limit.kept)
        while manager.canUndo { manager.undo() }
        #expect(counter.value == 5 - limit.kept)
        #expect(manager.redoCount == limit.kept)
    }

    @Test("removeAllActions empties both stacks and enables registration")
    func removeAll() {
        steps(1, 2)
        manager.undo()
        manager.disableUndoRegistration()
        manager.removeAllActions()
        #expect(!manager.canUndo && !manager.canRedo && manager.isUndoRegistrationEnabled)
        counter.value = 3
        manager.removeAllActions()
        #expect(manager.groupingLevel == 0 && !manager.canUndo)
    }

    @Test("removeAllActions leaves the caller's groups open and empty")
    func removeAllInGroup() {
        manager.groupsByEvent = false
        manager.beginUndoGrouping()
        counter.value = 1
        manager.removeAllActions()
        #expect(manager.groupingLevel == 1 && !manager.canUndo)
        manager.endUndoGrouping()
        #expect(manager.undoCount == 0)
    }

    @Test("Removing one target's actions leaves the others'")
    func removeTarget() {
        let other = Counter(manager)
        steps(1)
        other.value = 10
        counter.value = 2
        manager.endEvent()
        manager.undo()
        manager.removeAllActions(withTarget: counter)
        #expect(manager.undoCount == 0 && manager.redoCount == 1)
        manager.redo()
        #expect(other.value == 10 && counter.value == 1)
    }

    @Test("A target is not retained, and the action of one that is gone is skipped")
    func deadTarget() {
        var short: Counter? = Counter(manager)
        weak let witness = short
        short?.value = 1
        counter.value = 1
        short = nil
        #expect(witness == nil)
        manager.undo()
        #expect(counter.value == 0)
    }

    @Test("What an action holds is let go when the stack drops it")
    func release() {
        weak var witness: NSObject?
        do {
            let held = NSObject()
            witness = held
            manager.registerUndo(withTarget: counter) { _ in _ = held.hash }
        }
        #expect(witness != nil)
        manager.undo()
        #expect(witness == nil)
    }

    @Test("isUndoing and isRedoing tell which way the running action goes")
    func directions() {
        var seen: [String] = []
        func note(_ counter: Counter) {
            seen.append("\(manager.isUndoing) \(manager.isRedoing)")
            manager.registerUndo(withTarget: counter, handler: note)
        }
        manager.registerUndo(withTarget: counter, handler: note)
        manager.undo()
        manager.redo()
        manager.undo()
        #expect(seen == ["true false", "false true", "true false"])
        #expect(!manager.isUndoing && !manager.isRedoing)
    }

    @Test("An action whose undo registers nothing cannot be redone")
    func oneWay() {
        manager.registerUndo(withTarget: counter) { _ in }
        manager.undo()
        #expect(!manager.canRedo)
    }

    @Test("Expected changes make canUndo true at once, and an event that brings none leaves no group")
    func expected() {
        steps(1)
        manager.undo()
        manager.expectChanges()
        #expect(manager.canUndo && !manager.canRedo && manager.groupingLevel == 1)
        manager.setActionName("Edit")
        #expect(manager.undoActionName == "Edit")
        manager.endEvent()
        #expect(!manager.canUndo && manager.undoActionName == "")
    }
}
