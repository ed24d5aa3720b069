// From objects to cells: one pass over the slots of a plan.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// A value of a type that only its program knows. It is no reference, so that nobody changes it from elsewhere.
final class EncodedOther: @unchecked Sendable {
    let value: any Encodable
    init(_ value: any Encodable) { self.value = value }
}

/// The cells of some objects.
final class EncodedRows: Sendable {
    let plan: EncodingPlan
    let cells: ContiguousArray<EncodedCell>
    let count: Int

    init(_ plan: EncodingPlan, _ cells: ContiguousArray<EncodedCell>, count: Int) {
        self.plan = plan
        self.cells = cells
        self.count = count
    }
}

/// Reads objects into cells.
struct EncodingReader {
    private var cells: ContiguousArray<EncodedCell> = []

    /// - Throws: `EncodingError` for an object that is gone, and for a value that cannot be encoded.
    static func rows(_ objects: some Collection<NSManagedObject>, _ plan: EncodingPlan) throws -> EncodedRows {
        var reader = EncodingReader()
        reader.cells.reserveCapacity(objects.count * plan.width)
        for object in objects {
            if object._state.isFault { object.fire() }
            guard !object._state.has([.detached, .inaccessible]) else { throw gone(object, plan) }
            try reader.read(object, plan)
        }
        return EncodedRows(plan, reader.cells, count: objects.count)
    }

    private static func gone(_ object: NSManagedObject, _ plan: EncodingPlan) -> EncodingError {
        .invalidValue(
            object,
            .init(
                codingPath: plan.path,
                debugDescription: "The object \(object.objectID) of \(plan.entityName) was deleted."))
    }

    private mutating func read(_ object: NSManagedObject, _ plan: EncodingPlan) throws {
        for field in plan.fields { try read(field.source, object, plan, field.key) }
    }

    private mutating func read(
        _ source: EncodingPlan.Source, _ object: NSManagedObject, _ plan: EncodingPlan, _ key: EncodedKey
    ) throws {
        switch source {
        case .slot(let slot, let kind): cells.append(try EncodingReader.cell(object, slot, kind, plan, key))
        case .objectID: cells.append(.text(object.objectID.uri))
        case .count(let index): cells.append(.int(Int64(object.shownMembers(at: index).count)))
        case .getter(let keyPath):
            cells.append(
                try object.additionalValue(keyPath).map { try EncodingReader.cell(of: $0, plan, key) } ?? .null)
        case .target(let slot, let inner): try readTarget(EncodingReader.target(of: object, slot), inner)
        case .composite(let inner):
            let place = cells.count
            cells.append(.present)
            try read(object, inner)
            let isEmpty = cells[(place + 1)...].allSatisfy(\.isNull)
            if isEmpty { cells[place] = .null }
        case .members(let index, let inner, let order):
            let members = EncodingReader.sorted(object.shownMembers(at: index), order)
            cells.append(.members(try EncodingReader.rows(members, inner)))
        case .beyond(let slots, let last):
            var end: NSManagedObject? = object
            for slot in slots { end = end.flatMap { EncodingReader.target(of: $0, slot) } }
            if let end { try read(last, end, plan, key) } else { cells.append(.null) }
        }
    }

    private mutating func readTarget(_ target: NSManagedObject?, _ plan: EncodingPlan) throws {
        guard let target else {
            for _ in 0...plan.width { cells.append(.null) }
            return
        }
        cells.append(.present)
        try read(target, plan)
    }

    /// nil also for one whose row is gone.
    private static func target(of object: NSManagedObject, _ slot: Int) -> NSManagedObject? {
        guard let target = object.target(at: slot) else { return nil }
        if target._state.isFault { target.fire() }
        return target._state.has([.detached, .inaccessible]) ? nil : target
    }

    private static func sorted(_ members: [NSManagedObject], _ order: [MemberOrder]) -> [NSManagedObject] {
        if order.isEmpty { return members }
        return members.sorted { a, b in
            for key in order {
                let result = key.compare(a, b)
                if result != .orderedSame { return result == .orderedAscending }
            }
            return false
        }
    }

    // MARK: Values

    @inline(__always)
    private static func cell(
        _ object: NSManagedObject, _ slot: Int, _ kind: SlotKind, _ plan: EncodingPlan, _ key: EncodedKey
    ) throws -> EncodedCell {
        let isStraight = object._row != nil
        switch kind {
        case .int:
            return (isStraight ? object._optionalInt(slot) : object.bits(at: slot).map { Int64(bitPattern: $0) }).map {
                .int($0)
            } ?? .null
        case .text: return (isStraight ? object._text(slot) : object.text(at: slot)).map { .text($0) } ?? .null
        case .bool: return object.bits(at: slot).map { .bool($0 != 0) } ?? .null
        case .double: return object.bits(at: slot).map { .double(Double(bitPattern: $0)) } ?? .null
        case .float: return object.bits(at: slot).map { .float(Float(Double(bitPattern: $0))) } ?? .null
        case .date:
            return object.bits(at: slot).map { .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))) }
                ?? .null
        case .uri:
            return object.text(at: slot).map { text in URL(string: text).map { .url($0) } ?? .text(text) } ?? .null
        case .data, .externalData: return object.data(at: slot).map { .data($0) } ?? .null
        case .uuid: return object.uuid(at: slot).map { .uuid($0) } ?? .null
        case .decimal: return object.decimal(at: slot).map { .decimal($0) } ?? .null
        case .transformable: return try object.live(at: slot).map { try cell(of: $0, plan, key) } ?? .null
        case .toOne, .entityTag: return .null
        }
    }

    /// What key-value coding answers.
    private static func cell(of value: Any, _ plan: EncodingPlan, _ key: EncodedKey) throws -> EncodedCell {
        switch value {
        case let number as NSDecimalNumber: return .decimal(number.decimalValue)
        case let number as NSNumber where type(of: value) is AnyClass: return cell(of: number)
        case let text as String: return .text(text)
        case let date as Date: return .date(date)
        case let data as Data: return .data(data)
        case let uuid as UUID: return .uuid(uuid)
        case let url as URL: return .url(url)
        case let encodable as any Encodable where !(type(of: value) is AnyClass): return .other(EncodedOther(encodable))
        case let list as NSArray:
            return .other(EncodedOther(try list.map { EncodedPlain(cell: try cell(of: $0, plan, key)) }))
        case let dictionary as [String: Any]:
            return .other(EncodedOther(try dictionary.mapValues { EncodedPlain(cell: try cell(of: $0, plan, key)) }))
        default:
            let name = plan.entityName
            let why = value is any Encodable ? "an object that may change later" : "not Encodable"
            throw EncodingError.invalidValue(
                value,
                .init(
                    codingPath: plan.path + [key],
                    debugDescription:
                        "\(name).\(key.stringValue) is of type \(type(of: value)), which is \(why). Leave it out, or list a "
                        + "computed property that makes an Encodable value of it in additionalKeys."))
        }
    }

    private static func cell(of number: NSNumber) -> EncodedCell {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"): .float(number.floatValue)
        case UInt8(ascii: "d"): .double(number.doubleValue)
        case UInt8(ascii: "B"), UInt8(ascii: "c"): .bool(number.boolValue)
        default: .int(number.int64Value)
        }
    }
}
