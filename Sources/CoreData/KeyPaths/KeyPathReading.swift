// One reading of a key path on an object that answers with stand-ins, and what it tells.

import CoreDataFoundation
import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

/// Records which keys a key path asks for, of which objects, and what they were given.
///
/// A getter may ask for several keys, ask under conditions, or make something else of what it gets; only one that hands on what one
/// key holds has a name. So the path is read twice, with other stand-ins each time, and where the model lets the last key be nil once more
/// with nil at its end, which shows what a getter does then. Objects, and what they answer, belong to one reading and the thread that makes it.
final class KeyPathReading {
    enum Turn: Equatable {
        case first, second
        /// The last of so many questions is answered by nil.
        case empty(count: Int)
    }

    private struct Question {
        let object: ObjectIdentifier
        let key: String
        let answer: StandIn
        /// Whether the model lets it be nil.
        let isOptional: Bool
    }

    let turn: Turn
    /// The type of the value at the end, without optionals.
    let valueType: Any.Type
    private var questions: [Question] = []
    private var unknown: [String] = []
    private var isOver = false

    /// A getter that follows a chain of objects to its end finds it here.
    private static let mostAnswers = 1000

    private init(_ keyPath: AnyKeyPath, _ turn: Turn) {
        self.turn = turn
        valueType = KeyValue.unwrappedType(type(of: keyPath).valueType)
    }

    // MARK: What objects tell

    /// An object's answer to a question, nil after the reading or a thousand others.
    func answer(_ object: NSManagedObject, _ key: String, _ make: () -> StandIn) -> StandIn {
        guard !isOver else { return .nothing }
        guard questions.count < KeyPathReading.mostAnswers else {
            unknown.append(key)
            return .nothing
        }
        var answer = StandIn.nothing
        if turn != .empty(count: questions.count + 1) { answer = make() }
        questions.append(
            Question(object: ObjectIdentifier(object), key: key, answer: answer, isOptional: object.isOptional(key)))
        return answer
    }

    func note(unknown key: String) { unknown.append(key) }

    // MARK: Reading

    /// The keys of a key path.
    ///
    /// - Throws: for one that stands for no keys, naming those that it asked for.
    static func keys(
        of keyPath: AnyKeyPath, on type: NSManagedObject.Type, _ info: EntityInfo, _ runtime: ModelRuntime
    ) throws(PredicateError) -> [String] {
        // A destination's class may be one that the model does not tell.
        if let target = KeyValue.unwrappedType(Swift.type(of: keyPath).valueType) as? NSManagedObject.Type {
            _ = runtime.info(for: target)
        }
        let (first, seen, endsInOptional) = read(keyPath, .first, type, info)
        guard let keys = first else { throw unnamed(keyPath, type, seen) }
        let (second, others, _) = read(keyPath, .second, type, info)
        guard keys == second else { throw unnamed(keyPath, type, seen + others.filter { !seen.contains($0) }) }
        if endsInOptional, KeyValue.isOptional(Swift.type(of: keyPath).valueType) {
            let (_, asked, _) = read(keyPath, .empty(count: seen.count), type, info)
            guard asked == seen else { throw unnamed(keyPath, type, asked) }
        }
        return keys
    }

    /// - Returns: the keys that the path stands for, nil when for none, those that it asked for, and whether the last of them may be nil.
    private static func read(
        _ keyPath: AnyKeyPath, _ turn: Turn, _ type: NSManagedObject.Type, _ info: EntityInfo
    ) -> (keys: [String]?, seen: [String], endsInOptional: Bool) {
        let reading = KeyPathReading(keyPath, turn)
        let root = info.binding(of: type).make(info.description)
        root.takePart(in: reading)
        let result = root[keyPath: keyPath]
        // A live set asks when it is asked.
        if let set = KeyValue.unwrapped(result) as? NSSet { _ = set.count }
        // Objects hold their reading, so it must let go of them.
        defer { reading.end() }
        return (
            reading.keys(from: root, to: result), reading.questions.map(\.key) + reading.unknown,
            reading.questions.last?.isOptional == true
        )
    }

    /// What a key path gives where the one key that it asks for is nil; nil where it asks for more then.
    static func valueOfNil<Root: NSManagedObject, T>(
        _ keyPath: KeyPath<Root, T>, on type: Root.Type, _ info: EntityInfo
    ) -> T? {
        let reading = KeyPathReading(keyPath, .empty(count: 1))
        guard let root = info.binding(of: type).make(info.description) as? Root else { return nil }
        root.takePart(in: reading)
        defer { reading.end() }
        let result = root[keyPath: keyPath]
        return reading.questions.count == 1 && reading.unknown.isEmpty ? result : nil
    }

    private func end() {
        isOver = true
        questions = []
    }

    /// Whether each key was asked of the object that the one before gave, and the result is what the last one gave.
    private func keys(from root: NSManagedObject, to result: Any?) -> [String]? {
        guard unknown.isEmpty else { return nil }
        guard let last = questions.last else { return root.isNamed(by: result) ? ["objectID"] : nil }
        var object: ObjectIdentifier? = ObjectIdentifier(root)
        for question in questions {
            guard question.object == object else { return nil }
            // A value is the end: who asks for a second one of the same object makes something of both.
            object = if case .object(let next) = question.answer { ObjectIdentifier(next) } else { nil }
        }
        // Elements of composite attributes have dots.
        let keys = questions.flatMap { $0.key.split(separator: ".").map(String.init) }
        if last.answer.isSame(as: result) { return keys }
        if case .object(let object) = last.answer, object.isNamed(by: result) { return keys + ["objectID"] }
        return last.answer.isCount(result) ? keys + ["@count"] : nil
    }

    private static func unnamed(_ keyPath: AnyKeyPath, _ type: NSManagedObject.Type, _ seen: [String]) -> PredicateError
    {
        var known: Set<String> = []
        let names = seen.filter { known.insert($0).inserted }
        let asked =
            names.isEmpty ? "It reads no property of the model" : "It reads “\(names.joined(separator: "”, “"))”"
        return PredicateError(
            "A key path from \(Swift.type(of: keyPath).rootType) to \(Swift.type(of: keyPath).valueType) has no name. \(asked), and "
                + "what it gives is not just what one property holds. Fetch by properties of the model; for predicates and sort "
                + "orders in memory list the key path in additionalKeys of \(type).")
    }
}

extension NSManagedObject {
    /// Whether a result is this object's very ID.
    fileprivate final func isNamed(by result: Any?) -> Bool {
        KeyValue.unwrapped(result).map { $0 as? NSManagedObjectID === objectID } ?? false
    }
}
