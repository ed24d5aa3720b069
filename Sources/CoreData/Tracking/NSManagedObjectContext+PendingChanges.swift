// Processing pending changes: *delete rules · undo group · notification*.

import CoreDataFoundation
import CCoreDataRuntime
import CoreDataValues
import Dispatch
import Foundation

extension NSManagedObjectContext {
    /// Ends the open event: *apply delete rules · hand the log to the undo manager · tell what changed*.
    ///
    /// Closes the event's undo group even if a checkpoint (`canRedo`) has registered its changes before.
    public final func processPendingChanges() {
        checkQueue()
        closeSets()
        processChanges()
        tracker.undoManager?.endEvent()
        coredata_note_changes(listPlace, Int64(tracker.dirtyCount))
    }

    /// Schedules the end of the open event on the main queue, as Core Data leaves it to the run loop. False if the
    /// caller runs elsewhere: its changes must not be processed from another thread.
    ///
    /// If nothing serves the main queue, as in a plain script, the block never runs, which costs nothing more.
    final func endEventWithTurn() -> Bool {
        guard MainQueue.isMainActor else { return false }
        DispatchQueue.main.async { [weak self] in
            guard let self else { return }
            self.tracker.awaitsTurn = true
            self.asHolder { self.processPendingChanges() }
        }
        return true
    }

    final func processChanges() {
        guard !isProcessingChanges, tracker.hasEvent || !tracker.log.isEmpty else { return }
        isProcessingChanges = true
        if propagatesDeletesAtEndOfEvent || isSaving {
            if !tracker.deletePropagation.postponed.isEmpty { DeletePropagation.runPostponed(in: self) }
            DeletePropagation.run(in: self)
        } else if !tracker.deletePropagation.waiting.isEmpty {
            tracker.deletePropagation.postpone()
        }
        let event = ContextEvent(taking: &tracker)
        let (isLogged, hasDeletions) = (tracker.isLogging, tracker.logsDeletions)
        let log = tracker.endLog()
        registerUndo(log, hasDeletions: hasDeletions)
        isProcessingChanges = false
        tracker.compact()
        guard ContextNotice.didChange.name.ifAwaited != nil else { return post(event) }
        let outer = toldEvent
        toldEvent = ToldEvent(event: event, log: isLogged ? log : nil)
        post(event)
        toldEvent = outer
        // From now on the values before the next event can be logged.
        tracker.keepsLog = true
    }

    /// - Parameter others: objects that fetched results controllers have to look at too.
    final func post(_ event: ContextEvent, followersOnly others: [NSManagedObject] = []) {
        guard !event.isEmpty else { return others.isEmpty ? () : tellFollowers(of: others) }
        // Kept for the save that may follow. An event with refreshed objects is not kept: it would keep clean objects
        // alive.
        lastEvent = tracker.dirtyCount > 0 && event.refreshed.isEmpty ? event : nil
        eventsSinceSave += 1
        post(ContextNotice.didChange, event.userInfo)
        if followers != nil {
            tellFollowers(of: event.inserted + event.updated + event.deleted + event.refreshed + others)
        }
    }

    /// Ends the event in which a merge policy changed objects, once their save is done.
    final func tellResolvedConflicts() {
        post(ContextEvent(taking: &tracker))
        lastEvent = nil
    }

}
