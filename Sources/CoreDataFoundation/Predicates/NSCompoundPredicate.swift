// AND, OR and NOT as predicate objects.

import CoreDataValues
import Foundation

/// Predicates joined by AND or OR, or one negated. The parts may be of any kind, blocks included.
open class NSCompoundPredicate: NSPredicate, NSSecureCoding {
    public enum LogicalType: UInt, Sendable {
        case not = 0, and, or
    }
    let parts: [NSPredicate]
    private let type: LogicalType

    public init(type: LogicalType, subpredicates: [NSPredicate]) {
        if type == .not, subpredicates.count != 1 {
            misuse("A NOT was made of \(subpredicates.count) predicates; it takes exactly one.")
        }
        self.type = type
        parts = subpredicates
        super.init(value: true)
    }

    public convenience init(andPredicateWithSubpredicates subpredicates: [NSPredicate]) {
        self.init(type: .and, subpredicates: subpredicates)
    }

    public convenience init(orPredicateWithSubpredicates subpredicates: [NSPredicate]) {
        self.init(type: .or, subpredicates: subpredicates)
    }

    public convenience init(notPredicateWithSubpredicate predicate: NSPredicate) {
        self.init(type: .not, subpredicates: [predicate])
    }

    open var compoundPredicateType: LogicalType { type }
    open var subpredicates: [Any] { parts }

    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        switch type {
        case .and: !has(false, object, bindings)
        case .or: has(true, object, bindings)
        case .not: !(parts.first?.evaluate(with: object, substitutionVariables: bindings) ?? false)
        }
    }

    /// Whether a part has a value, asked in their order. Parts of the same type count as their own parts, without a call for each:
    /// programs make long chains by joining one predicate after another.
    private func has(_ value: Bool, _ object: Any?, _ bindings: [String: Any]?) -> Bool {
        var open = [parts[...]]
        while !open.isEmpty {
            guard let part = open[open.count - 1].popFirst() else {
                open.removeLast()
                continue
            }
            if let chain = part as? NSCompoundPredicate, chain.type == type,
                Swift.type(of: chain) == NSCompoundPredicate.self
            {
                open.append(chain.parts[...])
            } else if part.evaluate(with: object, substitutionVariables: bindings) == value {
                return true
            }
        }
        return false
    }

    open override func evaluate(with object: Any?) -> Bool { evaluate(with: object, substitutionVariables: nil) }

    open override var predicateFormat: String { printedFormat }
    open override var description: String { printedFormat }
    open override func copy(with zone: NSZone? = nil) -> Any { self }
    open override func isEqual(_ object: Any?) -> Bool { isSame(as: object) }
    open override var hash: Int { treeHash }

    // MARK: Archiving

    open class var supportsSecureCoding: Bool { true }

    /// Encodes the compound; of one with a block, or with an object that is no value, nothing, so that reading the archive fails.
    open func encode(with coder: NSCoder) { coder.encode(tree: try? tree()) }

    public required init?(coder: NSCoder) {
        guard let tree = coder.decodeTree(Predicate.self) else { return nil }
        let reader = FormatReader([], keepsBooleans: true)
        switch tree {
        case .and(let trees): (type, parts) = (.and, trees.map(reader.object))
        case .or(let trees): (type, parts) = (.or, trees.map(reader.object))
        case .not(let tree): (type, parts) = (.not, [reader.object(tree)])
        case .constant, .comparison: return nil
        }
        super.init(value: true)
    }
}
