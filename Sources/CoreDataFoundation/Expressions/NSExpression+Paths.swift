// Longer key paths out of shorter ones, and which expressions are nil where another one is.

import CoreDataValues
import Foundation

extension NSExpression {
    /// The expression for what a key path leads to from this one.
    package func appending(_ keyPath: AnyKeyPath) -> NSExpression { appending(.path(keyPath)) }

    /// The expression for a collection operator of this one, such as `@count`.
    package func appending(operator name: String) -> NSExpression { appending(.key(name)) }

    /// That this names an entity of a class.
    package func isEntity(of type: any KeyPathNaming.Type) -> NSPredicate {
        .comparing(appending(.key("entity")), .in, NSExpression(forConstantValue: EntitiesOfClass(type)))
    }

    /// The expression for what lies behind this one.
    func appending(_ step: KeyPathStep) -> NSExpression {
        switch content {
        case .evaluatedObject: NSExpression(content: .swiftKeyPath([step]))
        case .swiftKeyPath(let steps): NSExpression(content: .swiftKeyPath(steps + [step]))
        case .function("valueForKeyPath:", let items):
            if items.count == 2, case .swiftKeyPath(let steps) = items[1].content {
                NSExpression(
                    content: .function(
                        "valueForKeyPath:", [items[0], NSExpression(content: .swiftKeyPath(steps + [step]))]))
            } else {
                behind(step)
            }
        case .constant, .variable, .keyPath, .function, .aggregate, .subquery, .sets, .conditional, .block, .external:
            behind(step)
        }
    }

    private func behind(_ step: KeyPathStep) -> NSExpression {
        NSExpression(content: .function("valueForKeyPath:", [self, NSExpression(content: .swiftKeyPath([step]))]))
    }

    /// Whether the value cannot be nil: the object that is asked about, a member of a sub-query, a constant.
    var isNeverNil: Bool {
        switch content {
        case .evaluatedObject, .variable: true
        case .constant(let value): value != nil
        case .keyPath, .swiftKeyPath, .function, .aggregate, .subquery, .sets, .conditional, .block, .external: false
        }
    }

    /// Whether this is nil wherever another expression is: a path that goes through it, or a calculation with it.
    func isNil(with other: NSExpression) -> Bool {
        if self === other { return true }
        switch (content, other.content) {
        case (.swiftKeyPath(let steps), .swiftKeyPath(let first)): return steps.starts(with: first, by: ==)
        case (.function("valueForKeyPath:", let items), .function("valueForKeyPath:", let others)):
            guard items.count == 2, others.count == 2, items[0] == others[0],
                case .swiftKeyPath(let steps) = items[1].content,
                case .swiftKeyPath(let first) = others[1].content
            else { return false }
            return steps.starts(with: first, by: ==)
        case (.function(let name, let items), _):
            return NSExpression.calculations.contains(name) && items.contains { $0.isNil(with: other) }
        case (_, _): return false
        }
    }

    private static let calculations: Set<String> = [
        "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "length:", "uppercase:",
        "lowercase:", "valueForKeyPath:",
    ]
}

extension NSExpression {
    /// What a captured value stands for: an enumeration counts by its raw value, in collections too.
    package convenience init(captured value: Any?) {
        guard let value = KeyValue.unwrapped(value) else {
            self.init(forConstantValue: nil)
            return
        }
        if Value(any: value) == nil, let members = Operand.members(of: value) {
            self.init(capturedList: members)
        } else {
            self.init(forConstantValue: KeyValue.rawValue(value))
        }
    }

    package convenience init(capturedList values: [Any]) {
        self.init(forConstantValue: values.map { KeyValue.rawValue($0) })
    }
}
