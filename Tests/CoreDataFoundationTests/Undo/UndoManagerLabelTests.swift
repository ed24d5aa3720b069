// Names, titles, discardable actions, notifications and misuse of UndoManager.

import CoreDataFoundation
import Foundation
import Testing

@Suite struct UndoManagerLabelTests {
    let manager = UndoManager()
    let counter: Counter
    init() { counter = Counter(manager) }

    @Test("An action's name goes from undo to redo and back, and makes the menu titles")
    func names() {
        #expect(manager.undoMenuItemTitle == "Undo" && manager.redoMenuItemTitle == "Redo")
        counter.value = 1
        manager.setActionName("Typing")
        #expect(manager.undoActionName == "Typing")
        manager.endEvent()
        #expect(manager.undoMenuItemTitle == "Undo Typing")
        manager.undo()
        #expect(manager.undoActionName == "" && manager.redoActionName == "Typing")
        #expect(manager.redoMenuItemTitle == "Redo Typing")
        manager.redo()
        #expect(manager.undoMenuItemTitle == "Undo Typing")
        manager.setActionName("")
        #expect(manager.undoMenuItemTitle == "Undo")
    }

    @Test("A name given inside an inner group names the whole step")
    func nestedName() {
        manager.beginUndoGrouping()
        counter.value = 1
        manager.setActionName("Paste")
        manager.endUndoGrouping()
        manager.endEvent()
        #expect(manager.undoActionName == "Paste")
    }

    @Test("Titles can be localised by a subclass")
    func titles() {
        final class German: UndoManager {
            override func undoMenuTitle(forUndoActionName name: String) -> String { "\(name) widerrufen" }
        }
        let manager = German()
        let counter = Counter(manager)
        counter.value = 1
        manager.setActionName("Tippen")
        #expect(manager.undoMenuItemTitle == "Tippen widerrufen")
    }

    @Test("Discardable and user info travel with the action")
    func labels() {
        let key = UndoManager.UserInfoKey("place")
        counter.value = 1
        manager.setActionIsDiscardable(true)
        manager.setActionUserInfoValue(7, forKey: key)
        manager.endEvent()
        #expect(manager.undoActionIsDiscardable && !manager.redoActionIsDiscardable)
        manager.undo()
        #expect(!manager.undoActionIsDiscardable && manager.redoActionIsDiscardable)
        #expect(manager.redoActionUserInfoValue(forKey: key) as? Int == 7)
        #expect(manager.undoActionUserInfoValue(forKey: key) == nil)
    }

    /// What a block posts, by name without its decoration, with a star for the discardable key.
    func posted(_ block: () -> Void) -> [String] {
        final class Log: @unchecked Sendable { var names: [String] = [] }
        let log = Log()
        let names: [NSNotification.Name] = [
            .NSUndoManagerCheckpoint, .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup,
            .NSUndoManagerDidCloseUndoGroup, .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange,
            .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
        ]
        let tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { note in
                let star = note.userInfo?[NSUndoManagerGroupIsDiscardableKey] as? Bool == true ? "*" : ""
                let short = name.rawValue.replacingOccurrences(of: "NSUndoManager", with: "")
                    .replacingOccurrences(of: "Notification", with: "")
                log.names.append(short + star)
            }
        }
        block()
        for token in tokens { NotificationCenter.default.removeObserver(token) }
        return log.names
    }

    @Test(
        "A group announces its opening and its closing, and that it is discardable; one inside another is preceded by a check"
    )
    func groupNotifications() {
        manager.groupsByEvent = false
        let names = posted {
            manager.beginUndoGrouping()
            counter.value = 1
            manager.setActionIsDiscardable(true)
            manager.endUndoGrouping()
        }
        #expect(names == ["DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup*", "DidCloseUndoGroup*"])
        manager.beginUndoGrouping()
        #expect(posted { manager.beginUndoGrouping() } == ["Checkpoint", "DidOpenUndoGroup"])
        manager.endUndoGrouping()
        manager.endUndoGrouping()
    }

    @Test("Undo and redo announce themselves before and after, and check before they close the recording group")
    func undoNotifications() {
        counter.value = 1
        manager.endEvent()
        let recording = ["DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup", "DidCloseUndoGroup"]
        #expect(
            posted { manager.undo() }
                == ["Checkpoint", "Checkpoint", "WillUndoChange"] + recording + ["DidUndoChange"])
        #expect(posted { manager.redo() } == ["Checkpoint", "WillRedoChange"] + recording + ["DidRedoChange"])
    }

    @Test("What an observer registers at the checkpoint belongs to the group that is being undone")
    func checkpoint() {
        final class Once: @unchecked Sendable { var pending = true }
        let once = Once()
        nonisolated(unsafe) let (manager, counter) = (manager, counter)
        let token = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerCheckpoint, object: manager, queue: nil
        ) { _ in
            guard once.pending else { return }
            once.pending = false
            manager.beginUndoGrouping()
            counter.value = 9
            manager.endUndoGrouping()
            manager.endEvent()
        }
        defer { NotificationCenter.default.removeObserver(token) }
        manager.undo()
        #expect(!once.pending && counter.value == 0 && manager.canRedo)
    }

    @Test("Closing a group that is not open traps")
    func endWithoutBegin() async {
        await #expect(processExitsWith: .failure) { UndoManager().endUndoGrouping() }
    }

    @Test("Undoing with an inner group open traps")
    func undoInsideGroup() async {
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.beginUndoGrouping()
            manager.undo()
        }
    }

    @Test("Registering without a group traps when events do not open one")
    func registerWithoutGroup() async {
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.groupsByEvent = false
            manager.registerUndo(withTarget: manager) { _ in }
        }
    }

    @Test("Undoing the nested group while actions follow it traps")
    func nestedWithActions() async {
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.registerUndo(withTarget: manager) { _ in }
            manager.undoNestedGroup()
        }
    }

    @Test("Enabling registration that is enabled traps")
    func enableTwice() async {
        await #expect(processExitsWith: .failure) { UndoManager().enableUndoRegistration() }
    }

    @Test("Redoing while an undo runs traps")
    func redoInsideUndo() async {
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.registerUndo(withTarget: manager) { $0.redo() }
            manager.undo()
        }
    }
}
