// Rows that the store changed in addition to what a save wrote: derived attributes.

import CoreDataValues

extension NSManagedObjectContext {
    /// Detaches such rows from faults, so that they are read again. An object that was read keeps its values until it
    /// is refreshed (4.11); members of to-manys that were read before are read again when their owner asks.
    final func rowsWereTouched(_ keys: [RowKey], store: UInt16) {
        guard !keys.isEmpty, let identityMap else { return }
        faulting.rowTime += 1
        for key in keys {
            guard let object = identityMap.object(number: key.number, entity: key.entity.rawValue, store: store),
                object._state.isFault, object._state.pointee.row != nil
            else { continue }
            object._state.detachRow()
            faulting.joinOthers(object)
        }
    }
}
