// The names that another's store gives its rows, as numbers.

import CoreDataValues
import Foundation
import Synchronization

/// Interns reference objects: a row's number is good as long as the store is open.
///
/// A reference names a row of an entity. Asked for by an entity above or below, it is the same row, since an ID may be made
/// before it is known which entity the row is of; entities that are neither may count their rows each from 1.
final class ReferenceTable: Sendable {
    private struct Name: Hashable, @unchecked Sendable {
        let root: EntityIndex
        let reference: AnyHashable
    }

    private struct Row: @unchecked Sendable {
        var entity: EntityIndex
        let reference: Any
    }

    private struct State {
        /// More than one number where entities that are neither above nor below each other use the same reference.
        var numbers: [Name: [Int64]] = [:]
        var rows: [RowKey: Row] = [:]
        var next: [EntityIndex: Int64] = [:]
        /// References that are neither text nor whole number, by what they are called in a URI.
        var called: [Name: [Int64]] = [:]
    }

    private let state = Mutex(State())
    private let schema: Schema

    init(schema: Schema) { self.schema = schema }

    /// The number of a reference, given when it is first seen.
    func number(of reference: Any, entity: EntityIndex) -> Int64 {
        let root = schema[entity].root
        let name = Name(root: root, reference: ReferenceTable.hashable(reference))
        nonisolated(unsafe) let given = reference
        return state.withLock { state in
            if let known = state.numbers[name].flatMap({ kin($0, root, entity, state) }) {
                // An ID may have been made of an entity above; the more special one is the true one.
                let key = RowKey(entity: root, number: known)
                if let former = state.rows[key]?.entity, former < entity { state.rows[key]?.entity = entity }
                return known
            }
            let number = state.next[root, default: 1]
            state.next[root] = number + 1
            state.numbers[name, default: []].append(number)
            state.rows[RowKey(entity: root, number: number)] = Row(entity: entity, reference: given)
            if !(given is String), ReferenceTable.integer(given) == nil {
                state.called[Name(root: root, reference: ReferenceTable.text(of: given)), default: []].append(number)
            }
            return number
        }
    }

    /// The row of an entity among rows with one name: its own, else that of an entity below or above.
    private func kin(_ numbers: [Int64], _ root: EntityIndex, _ entity: EntityIndex, _ state: State) -> Int64? {
        var found: Int64?
        for number in numbers {
            guard let known = state.rows[RowKey(entity: root, number: number)]?.entity else { continue }
            if known == entity { return number }
            let isKin = schema[known].isKind(of: schema[entity]) || schema[entity].isKind(of: schema[known])
            if isKin, found == nil { found = number }
        }
        return found
    }

    // MARK: In URIs

    /// Marks the text of a text that would read as a number's, or as a marked one.
    private static let mark = "'"

    /// The whole number that a reference is, in whatever class.
    private static func integer(_ reference: Any) -> Int64? {
        switch reference {
        case let number as any BinaryInteger: Int64(exactly: number)
        case let number as NSNumber: number == NSNumber(value: number.int64Value) ? number.int64Value : nil
        default: nil
        }
    }

    /// What a reference is called in a URI: a text by itself, a whole number by its digits.
    static func text(of reference: Any) -> String {
        let text = String(describing: reference)
        guard integer(reference) == nil, Int64(text) != nil || text.hasPrefix(mark) else { return text }
        return mark + text
    }

    /// The number of what is called so. What was not seen yet is a number if it reads as one, else a text.
    func number(ofTextInURI text: String, entity: EntityIndex) -> Int64 {
        let name = Name(root: schema[entity].root, reference: text)
        let known = state.withLock { state in state.called[name].flatMap { kin($0, name.root, entity, state) } }
        if let known { return known }
        if text.hasPrefix(ReferenceTable.mark) { return number(of: String(text.dropFirst()), entity: entity) }
        return number(of: Int64(text).map { NSNumber(value: $0) } ?? text as Any, entity: entity)
    }

    /// The entity and reference of a row.
    func row(_ number: Int64, in root: EntityIndex) -> (entity: EntityIndex, reference: Any)? {
        let row = state.withLock { $0.rows[RowKey(entity: root, number: number)] }
        return row.map { ($0.entity, $0.reference) }
    }

    /// A commit tells the entity of a row that was numbered before it was known.
    func setEntity(_ key: RowKey) {
        let place = RowKey(entity: schema[key.entity].root, number: key.number)
        state.withLock { $0.rows[place]?.entity = key.entity }
    }

    /// Equal references are equal whatever class wraps them.
    private static func hashable(_ reference: Any) -> AnyHashable {
        if let number = integer(reference) { return AnyHashable(number) }
        return switch reference {
        case let text as String: AnyHashable(text)
        case let uuid as UUID: AnyHashable(uuid)
        case let data as Data: AnyHashable(data)
        case let url as URL: AnyHashable(url)
        case let object as NSObject: AnyHashable(object)
        case let value as AnyHashable: value
        default: AnyHashable(String(describing: reference))
        }
    }
}
