// Values in files beside the store: a file is read each time its value is asked for.

import CoreDataValues
import Foundation

extension NSManagedObject {
    /// The bytes of a Binary or Transformable value, read from a file if the row only refers to one.
    final func data(_ source: Source, _ slot: Int) -> Data? {
        let kind = kind(slot)
        guard kind == .externalData, case .row(let row, let chunk) = source,
            let name = chunk.withBytes(of: row[slot], ExternalReference.name)
        else { return NSManagedObject.data(source, slot, kind) }
        return externalData(named: name, slot)
    }

    /// Whether a changed value differs from the row's. A file is only read if its value has the same length.
    final func differsExternally(
        _ value: Data, _ row: UnsafeMutablePointer<UInt64>, _ chunk: RowChunk, _ slot: Int
    ) -> Bool {
        if let name = chunk.withBytes(of: row[slot], ExternalReference.name) {
            let store = managedObjectContext?.requiredCoordinator.store(numbered: _state.pointee.store)
            guard store?.rows.externalSize(named: name) == value.count else { return true }
        }
        return data(.row(row, chunk), slot) != value
    }

    /// Reads values in files into the overlay: the save that deletes the row removes the files, and an undo needs the
    /// values.
    final func keepExternalValues() {
        let state = _state
        for slot in state.info.externalSlots where state.overlay?.isPresent(slot) != true {
            guard let row = state.pointee.row, let chunk = state.chunk, row.isPresent(slot),
                chunk.withBytes(of: row[slot], ExternalReference.name) != nil,
                let value = data(.row(row, chunk), slot)
            else { continue }
            state.makeOverlay().set(slot, value)
        }
    }

    /// Reads a file; if that fails, answers nil and leaves the error with the context (`pendingReadError`).
    private func externalData(named name: String, _ slot: Int) -> Data? {
        guard let context = managedObjectContext else { return nil }
        do {
            return try context.keeper(of: _state.pointee.store)?.externalData(named: name)
        } catch {
            // Another save may have replaced the value, and its file with it, since the row was read.
            if let value = context.link.externalData(of: self, at: slot, context) { return value }
            if let present = presentData(context, slot, insteadOf: name) {
                return present
            }
            context.faulting.recordReadError(
                CocoaError.unread(objectID, key: _state.info.entity.slots[slot].name, cause: error))
            return nil
        }
    }

    /// The value that the store has now, even if it is replaced again meanwhile; nil if the row still names the same
    /// file.
    private func presentData(_ context: NSManagedObjectContext, _ slot: Int, insteadOf name: String) -> Data? {
        var gone = name
        while let (chunk, row) = presentRow(context), row.isPresent(slot) {
            guard let present = chunk.withBytes(of: row[slot], ExternalReference.name) else {
                return NSManagedObject.data(.row(row, chunk), slot, .externalData)
            }
            if present == gone { return nil }
            if let data = try? context.keeper(of: _state.pointee.store)?.externalData(named: present) { return data }
            gone = present
        }
        return nil
    }

    private func presentRow(_ context: NSManagedObjectContext) -> (chunk: RowChunk, row: UnsafeMutablePointer<UInt64>)?
    {
        let (state, info) = (_state, _state.info)
        guard let store = context.reader(of: state.pointee.store) else { return nil }
        var found: RowChunk?
        try? store.rows(for: [state.pointee.number], in: info.schema[info.entity.index].root, .latest) { batch in
            found = batch.first
            return .stop
        }
        guard let chunk = found, chunk.count == 1, chunk.layout.entity == info.entity.index else { return nil }
        return (chunk, chunk.row(0))
    }
}

extension NSManagedObjectContext {
    /// The keeper of a store's files, which lie beside the store whatever context reads its rows; nil for an object
    /// that was never saved.
    ///
    /// - Throws: 134070 when the store was removed.
    fileprivate final func keeper(of store: UInt16) throws -> (any StoreKeeper)? {
        if let found = requiredCoordinator.store(numbered: store) { return found.rows }
        guard store != 0 else { return nil }
        throw CocoaError.removedStore(requiredCoordinator.identities.uuid(of: store))
    }
}
