// Reads the members of a to-many, and makes objects of their rows.

import CoreDataValues
import Foundation

extension Faulting {
    /// Reads the members of a to-many.
    func fire(_ owner: NSManagedObject, toMany index: Int, _ members: ToMany) {
        let number = owner._state.pointee.store
        guard context.reader(of: number) != nil || number != 0 && !owner._state.has(.detached) else { return }
        noteFault(of: owner, toMany: index)
        context.persistentStoreCoordinator?.faultCount.wrappingAdd(1, ordering: .relaxed)
        let begun = context.observedTime
        defer { if begun != 0 { context.tellFault(of: owner, toMany: index, members, since: begun) } }
        do {
            members.setRead(try read(owner.relationship(toMany: index).index, of: owner._state.key), at: rowTime)
            members.setUnseen(readsUnseen)
            members.setMayPrecedeRow(owner._state.pointee.row == nil)
        } catch {
            recordReadError(
                CocoaError.unread(owner.objectID, key: owner.relationship(toMany: index).name, cause: error))
        }
    }

    private func read(_ relationship: RelationshipIndex, of owner: ObjectKey) throws -> ToMany.Base {
        guard let store = try context.requiredReader(of: owner.store) else { return .fault }
        if store.capabilities.contains(.memberKeys) {
            let keys = try store.memberKeys(of: relationship, owner: owner.row, .latest)
            return .keys(
                ContiguousArray(keys.map { ObjectKey(number: $0.number, entity: $0.entity, store: owner.store) }))
        }
        var batches: [RowBatch] = []
        let cache = context.rowCache
        let ticket = cache?.ticket ?? 0
        try store.members(of: relationship, owner: owner.row, .latest) { batch in
            batches.append(batch)
            cache?.add(batch, store: owner.store, since: ticket)
            return .more
        }
        // An owner that only the parent has is in no store, but its members may be: they keep their own keys.
        guard owner.store == 0 else { return .rows(batches) }
        return .keys(ContiguousArray(materialize(batches, store: 0).map { $0._state.key }))
    }

    /// Returns the objects of an owner's members, whose rows may be in several chunks of one root entity.
    func materialize(_ slices: MemberSlices, store: UInt16) -> [NSManagedObject] {
        let count = slices.count
        var objects: [NSManagedObject] = []
        guard count > 0 else { return objects }
        objects.reserveCapacity(count)
        let table = slices.table
        let entity = table.chunks[0].layout.entity
        let identityMap = context.requiredIdentityMap
        withUnsafeTemporaryAllocation(of: Int64.self, capacity: count) { numbers in
            withUnsafeTemporaryAllocation(of: Unmanaged<NSManagedObject>?.self, capacity: count) { found in
                guard let numbersBase = numbers.baseAddress, let foundBase = found.baseAddress else { return }
                var isSaved = store != 0
                table.forEach(slices.range) { index, chunk, row in
                    let number = row.key(chunk.layout)
                    numbersBase[index] = number
                    isSaved = isSaved && number >= 0
                }
                guard isSaved else { return objects += materializeUnsaved(slices, store: store) }
                identityMap.objects(
                    UnsafeBufferPointer(numbers), entity: entity.rawValue, store: store, into: foundBase)
                make(slices, foundBase, numbersBase, entity: entity, store: store, into: &objects)
            }
        }
        if !slices.beyond.isEmpty { hand(slices.beyond, to: ContiguousArray(objects), read: slices.row) }
        return objects
    }

    /// Appends the objects that were found and makes the missing ones.
    private func make(
        _ slices: MemberSlices, _ found: UnsafeMutablePointer<Unmanaged<NSManagedObject>?>,
        _ numbers: UnsafeMutablePointer<Int64>, entity: EntityIndex, store: UInt16,
        into objects: inout [NSManagedObject]
    ) {
        let (table, identityMap) = (slices.table, context.requiredIdentityMap)
        var layout = table.chunks[0].layout
        var birth = Birth(
            context.runtime.infos[entity.value], identityMap, table.chunks[0], store: store, asFaults: true,
            unseen: readsUnseen
        )
        withUnsafeTemporaryAllocation(of: Unmanaged<NSManagedObject>.self, capacity: slices.count) { born in
            var count = 0
            table.forEach(slices.range) { index, chunk, row in
                if let existing = found[index]?.takeRetainedValue() {
                    _ = fulfill(existing, chunk, row, asFaults: true)
                    return objects.append(existing)
                }
                if chunk.layout === layout {
                    birth.move(to: chunk)
                } else {
                    layout = chunk.layout
                    birth = Birth(
                        context.runtime.infos[layout.entity.value], identityMap, chunk, store: store, asFaults: true,
                        unseen: readsUnseen)
                }
                birth.expect(1)
                let object = make(birth, row)
                birth.retain(1)
                born[count] = Unmanaged.passUnretained(object)
                numbers[count] = numbers[index]
                count += 1
                objects.append(object)
            }
            identityMap.register(
                UnsafeBufferPointer(rebasing: born[0..<count]), numbers, entity: entity.rawValue, store: store)
        }
    }

    private func materializeUnsaved(_ slices: MemberSlices, store: UInt16) -> [NSManagedObject] {
        var objects: ContiguousArray<NSManagedObject> = []
        for place in slices.table.places[slices.range] {
            let (chunk, row) = (slices.table.chunks[Int(place.chunk)], Int(place.row))
            context.materializeUnsaved(chunk, row..<row + 1, store: store, asFaults: true, into: &objects)
        }
        return Array(objects)
    }
}
