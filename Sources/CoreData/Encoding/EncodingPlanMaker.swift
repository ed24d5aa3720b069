// Makes the plan of one object and of all that is reached from it.

import CoreDataFoundation
import CoreDataValues
import Foundation
import struct CoreDataValues.PredicateError

/// Makes the plan of one object and of all that is reached from it.
struct EncodingPlanMaker {
    /// A container before it is closed.
    private final class Draft {
        enum Content {
            case value(EncodingPlan.Source)
            case target(slot: Int, EntityInfo, Draft)
            case composite(Draft)
        }
        var contents: [(name: String, content: Content)] = []
    }
    private let info: EntityInfo
    private let runtime: ModelRuntime
    private let shape: EncodingPlan.Shape
    private let path: [EncodedKey]
    private let draft = Draft()
    private var prefetched: [String] = []

    init(_ info: EntityInfo, _ runtime: ModelRuntime, _ shape: EncodingPlan.Shape, path: [EncodedKey] = []) {
        self.info = info
        self.runtime = runtime
        self.shape = shape
        self.path = path
    }

    func plan(of parts: [EncodingPart], for type: NSManagedObject.Type) throws -> EncodingPlan {
        var maker = self
        for part in parts { try maker.add(part, type) }
        return maker.closed(
            draft, info, path, try PrefetchStep.steps(maker.prefetched, from: info.entity, in: runtime.schema))
    }

    private func closed(_ draft: Draft, _ info: EntityInfo, _ path: [EncodedKey], _ steps: [PrefetchStep] = [])
        -> EncodingPlan
    {
        let fields = draft.contents.map { name, content in
            let key = EncodedKey(name)
            let source: EncodingPlan.Source =
                switch content {
                case .value(let source): source
                case .target(let slot, let target, let inner): .target(slot: slot, closed(inner, target, path + [key]))
                case .composite(let inner): .composite(closed(inner, info, path + [key]))
                }
            return EncodingPlan.Field(key: key, source: source)
        }
        return EncodingPlan(info, fields, shape, path: path, prefetch: steps)
    }

    // MARK: Parts

    private mutating func add(_ part: EncodingPart, _ type: NSManagedObject.Type) throws {
        switch part {
        case .property(let keyPath, nil): try add(keys(of: keyPath), keyPath, to: draft, info, [])
        case .property(let keyPath, let name?):
            let source = try source(of: keys(of: keyPath), keyPath, info, [])
            try add(name, .value(source), in: draft, keyPath)
        case .each(let keyPath, let parts, let shape, let order):
            let keys = try keys(of: keyPath)
            guard keys.count == 1, case .toMany(let index)? = info.entity.places[keys[0]] else {
                throw refusal(
                    keyPath, "is no to-many of \(info.entity.name), of which each member could be encoded.", keys)
            }
            let destination = runtime.infos[info.toManyRelationships[index].destination.value]
            let maker = EncodingPlanMaker(destination, runtime, shape, path: path + [EncodedKey(keys[0])])
            let members = try maker.plan(of: parts, for: destination.classBinding.type)
            prefetched.append(keys[0])
            prefetched += members.prefetch.flatMap(\.paths).map { "\(keys[0]).\($0)" }
            let sorting = order.map { MemberOrder($0, destination, runtime) }
            try add(keys[0], .value(.members(toMany: index, members, sorting)), in: draft, keyPath)
        }
    }

    private func keys(of keyPath: AnyKeyPath) throws -> [String] {
        do throws(PredicateError) {
            return try KeyPathNames.keys(of: keyPath, in: info, runtime)
        } catch { throw refusal(keyPath, "cannot be encoded: \(error.sentence)", []) }
    }

    /// Adds what a path leads to where its keys say.
    private mutating func add(
        _ keys: [String], _ keyPath: AnyKeyPath, to draft: Draft, _ info: EntityInfo, _ former: [String]
    ) throws {
        if let (key, length) = info.entity.compositeKey(of: keys), length == keys.count {
            return try add(composite: key.parts, keyPath, to: draft, info)
        }
        guard keys.count > 1, case .slot(let slot)? = info.entity.places[keys[0]],
            let relationship = info.slotRelationships[slot]
        else {
            guard keys.last != "@count" else {
                throw refusal(keyPath, "is a count, which has no name of its own: use adding(…, as:).", former + keys)
            }
            return try add(keys[0], .value(try source(of: keys, keyPath, info, former)), in: draft, keyPath)
        }
        let target = runtime.infos[relationship.destination.value]
        noteRead(keys, former)
        let inner: Draft
        switch draft.contents.first(where: { $0.name == keys[0] })?.content {
        case .target(_, _, let known)?: inner = known
        case .value?, .composite?, nil:
            inner = Draft()
            try add(keys[0], .target(slot: slot, target, inner), in: draft, keyPath)
        }
        try add(Array(keys.dropFirst()), keyPath, to: inner, target, former + [keys[0]])
    }

    /// Adds an element of a composite, or all of them.
    private mutating func add(composite keys: [String], _ keyPath: AnyKeyPath, to draft: Draft, _ info: EntityInfo)
        throws
    {
        let name = keys.joined(separator: ".")
        if let composite = info.entity.composites[name] {
            for slot in composite.slots {
                try add(composite: info.entity.slots[slot].name.parts, keyPath, to: draft, info)
            }
            return
        }
        guard case .slot(let slot)? = info.entity.places[name] else {
            throw refusal(keyPath, "names no element of \(keys[0]).", keys)
        }
        var place = draft
        for key in keys.dropLast() {
            if case .composite(let known)? = place.contents.first(where: { $0.name == key })?.content {
                place = known
            } else {
                let inner = Draft()
                try add(key, .composite(inner), in: place, keyPath)
                place = inner
            }
        }
        try add(keys[keys.count - 1], .value(.slot(slot, info.kinds[slot])), in: place, keyPath)
    }

    /// Where the value at the end of keys lies.
    private mutating func source(
        of keys: [String], _ keyPath: AnyKeyPath, _ info: EntityInfo, _ former: [String]
    ) throws -> EncodingPlan.Source {
        if let (key, length) = info.entity.compositeKey(of: keys), length == keys.count,
            case .slot(let slot)? = info.entity.places[key]
        {
            return .slot(slot, info.kinds[slot])
        }
        switch info.entity.places[keys[0]] {
        case .slot(let slot)?:
            guard let relationship = info.slotRelationships[slot] else {
                guard keys.count == 1 else {
                    throw refusal(keyPath, "leads on behind the attribute \(keys[0]).", former + keys)
                }
                return .slot(slot, info.kinds[slot])
            }
            guard keys.count > 1 else {
                throw refusal(keyPath, "ends in an object. Name properties of it, or its objectID.", former + keys)
            }
            noteRead(keys, former)
            let target = runtime.infos[relationship.destination.value]
            let rest = try source(of: Array(keys.dropFirst()), keyPath, target, former + [keys[0]])
            if case .beyond(let slots, let last) = rest { return .beyond([slot] + slots, last) }
            return .beyond([slot], rest)
        case .toMany(let index)?:
            guard keys.count == 2, keys[1] == "@count" else {
                throw refusal(
                    keyPath, "ends in a to-many. Encode its members by each(…), or its count by adding(…, as:).",
                    former + keys)
            }
            prefetched.append((former + [keys[0]]).joined(separator: "."))
            return .count(toMany: index)
        case .fetched?: throw refusal(keyPath, "is a fetched property; encode what it fetches.", former + keys)
        case nil:
            if keys == ["objectID"] { return .objectID }
            guard former.isEmpty, keys.count == 1,
                AdditionalKeys.name(of: keyPath, on: info.classBinding.type) == keys[0]
            else {
                throw refusal(keyPath, "names no property of \(info.entity.name).", former + keys)
            }
            return .getter(keyPath)
        }
    }

    /// The ID of a target is known without its row.
    private mutating func noteRead(_ keys: [String], _ former: [String]) {
        if keys.dropFirst() != ["objectID"] { prefetched.append((former + [keys[0]]).joined(separator: ".")) }
    }

    private func add(_ name: String, _ content: Draft.Content, in draft: Draft, _ keyPath: AnyKeyPath) throws {
        guard !draft.contents.contains(where: { $0.name == name }) else {
            throw refusal(keyPath, "is the second value under the name “\(name)”.", [name])
        }
        draft.contents.append((name, content))
    }

    private func refusal(_ keyPath: AnyKeyPath, _ words: String, _ keys: [String]) -> EncodingError {
        let named =
            keys.isEmpty
            ? "A key path of \(Swift.type(of: keyPath).rootType)" : "The key path \(keys.joined(separator: "."))"
        return .invalidValue(
            keyPath,
            EncodingError.Context(codingPath: path + keys.map { EncodedKey($0) }, debugDescription: "\(named) \(words)")
        )
    }
}
