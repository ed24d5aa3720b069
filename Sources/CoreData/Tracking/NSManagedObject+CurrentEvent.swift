// What changed in an object since its context last posted a did-change notification.

import CoreDataValues
import Foundation

extension NSManagedObject {
    /// The properties that changed since the last did-change notification, with their former values (`NSNull` for nil);
    /// inside that notification, those of the event that it reports. Empty for an object outside the event.
    ///
    /// They come from a log that the context keeps while it has an undo manager or such notifications are awaited.
    /// Without it, and until the first notification, they are the properties that changed since the last save.
    public final func changedValuesForCurrentEvent() -> [String: Any] {
        checkQueue()
        guard let context = _state.identityMap?.context else { return [:] }
        let isPartOfEvent = _state.pointee.flags & ObjectFlags.event.rawValue != 0
        guard let told = context.toldEvent else {
            guard isPartOfEvent else { return [:] }
            guard context.tracker.isLogging, !_state.has(.skipsLog) else { return changedSinceSave }
            return former(in: [context.tracker.log]) { $0._state.has(.skipsLog) }.values
        }
        guard let log = told.log else { return isPartOfEvent || told.event.changes(self) ? changedSinceSave : [:] }
        if told.event.insertedSet.contains(self) { return changedSinceSave }
        return former(in: [log, context.tracker.log]) {
            $0._state.has(.skipsLog) || told.event.insertedSet.contains($0)
        }
        .values
    }

    private var changedSinceSave: [String: Any] { committedValues(forKeys: Array(changedValues().keys)) }

    /// - Parameters:
    ///   - logs: the earlier one first.
    ///   - isNew: whether an object was inserted with these changes, so that writes to it were not logged.
    private func former(in logs: [ContiguousArray<GraphChange>], without isNew: (NSManagedObject) -> Bool)
        -> FormerProperties
    {
        var former = FormerProperties(self)
        forEachToMany { index, members in
            for member in members.added.objects where isNew(member) {
                former.setMember(member, of: index, isMember: false)
            }
        }
        for log in logs.reversed() { for change in log.reversed() { former.rewind(change) } }
        return former
    }
}

/// An event while its did-change notification is posted, with the log of its changes if there was one.
struct ToldEvent {
    let event: ContextEvent
    let log: ContiguousArray<GraphChange>?
}

extension ContextEvent {
    /// Whether the event reports an object as updated or inserted.
    fileprivate func changes(_ object: NSManagedObject) -> Bool {
        updatedSet.contains(object) || insertedSet.contains(object)
    }
}

/// The values of one object from before an event, found by going back through the log.
private struct FormerProperties {
    private let object: NSManagedObject
    private(set) var values: [String: Any] = [:]
    /// The former values of composites' elements, by slot.
    private var elements: [Int: Any?] = [:]
    /// The targets of moved members at the point of the log that was reached.
    private var targets: [ObjectIdentifier: NSManagedObject?] = [:]

    init(_ object: NSManagedObject) { self.object = object }

    mutating func rewind(_ change: GraphChange) {
        switch change {
        case .existence, .revival: break
        case .attribute(let changed, let slot, let old):
            if changed === object { setAttribute(Int(slot), old.object(object, Int(slot))) }
        case .target(let changed, let slot, let old):
            if changed === object { values[name(slot)] = old ?? NSNull() as Any }
            moveBack(changed, slot: Int(slot), to: old)
        case .link(let changed, let index, let member, let added):
            if changed === object { setMember(member, of: Int(index), isMember: !added) }
        case .position(let changed, let index, _, _), .order(let changed, let index, _):
            if changed === object { _ = members(of: Int(index)) }
        }
    }

    /// An element is reported as part of its composite, as everywhere.
    private mutating func setAttribute(_ slot: Int, _ old: Any?) {
        let entity = object._state.info.entity
        guard let composite = entity.slots[slot].composite.flatMap({ entity.composites[$0] }) else {
            return values[entity.slots[slot].name] = old ?? NSNull()
        }
        elements.updateValue(old, forKey: slot)
        let former = object.dictionary(of: composite) { slot in
            if let known = elements[slot] { known } else { object.anyValue(.slot(slot)) }
        }
        values[composite.path] = former ?? NSNull() as Any
    }

    /// Takes back the move of a member, whose to-one tells its former owner.
    private mutating func moveBack(_ member: NSManagedObject, slot: Int, to old: NSManagedObject?) {
        let relationship = member.relationship(at: slot)
        guard let inverse = relationship.inverse,
            case .toMany(let index)? = object.place(of: object._state.info.schema[inverse].name),
            object._state.info.entity.toMany[index] == inverse
        else { return }
        let present = targets[ObjectIdentifier(member)] ?? member.target(at: slot)
        if present === object { setMember(member, of: index, isMember: false) }
        if old === object { setMember(member, of: index, isMember: true) }
        targets[ObjectIdentifier(member)] = .some(old)
    }

    mutating func setMember(_ member: NSManagedObject, of index: Int, isMember: Bool) {
        var members = members(of: index)
        members.removeAll { $0 === member }
        if isMember { members.append(member) }
        let relationship = object.relationship(toMany: index)
        values[relationship.name] = relationship.isOrdered ? NSOrderedSet(array: members) as Any : Set(members)
    }

    private mutating func members(of index: Int) -> [NSManagedObject] {
        let relationship = object.relationship(toMany: index)
        switch values[relationship.name] {
        case let set as Set<NSManagedObject>: return Array(set)
        case let ordered as NSOrderedSet: return ordered.array as? [NSManagedObject] ?? []
        default:
            let present = object.members(at: index)
            values[relationship.name] = relationship.isOrdered ? NSOrderedSet(array: present) as Any : Set(present)
            return present
        }
    }

    private func name(_ slot: Int32) -> String { object._state.info.entity.slots[Int(slot)].name }
}

extension FormerValue {
    /// The value as key-value coding hands it out.
    fileprivate func object(_ owner: NSManagedObject, _ slot: Int) -> Any? {
        switch self {
        case .null: nil
        case .unset: owner.object(owner._state.info.transientDefault(slot), slot)
        case .bits(let bits): owner.value(bits, slot).object
        case .text(let text): owner.kind(slot) == .uri ? Value.uri(text).object : text
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .reference(let object): (object as? LiveValue).map { owner.made($0, slot) } ?? object
        case .row(let chunk, let row): owner.object(.row(row, chunk), slot)
        }
    }
}

extension NSManagedObject {
    /// A number, flag or date by its bits.
    fileprivate final func value(_ bits: UInt64, _ slot: Int) -> Value {
        switch kind(slot) {
        case .bool: .bool(bits != 0)
        case .double, .float: .double(Double(bitPattern: bits))
        case .date: .date(Double(bitPattern: bits))
        case .int, .text, .uri, .data, .externalData, .uuid, .decimal, .transformable, .toOne, .entityTag:
            .int(Int64(bitPattern: bits))
        }
    }
}
