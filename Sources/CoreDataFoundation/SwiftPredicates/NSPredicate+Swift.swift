// NSPredicate and NSExpression of what Swift's macros make.

import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

extension NSPredicate {
    /// The predicate that asks the same as a Swift predicate over managed objects.
    ///
    /// Key paths go by the names of the properties, which are looked for when the predicate is first used. A part that has no
    /// counterpart, or a key path of something else than a managed object class, is a programmer's mistake and traps with its name;
    /// `init(translating:)` throws instead. Never nil; optional because it is so in programs for Apple's systems.
    public convenience init?<Input: NSObject>(_ predicate: Foundation.Predicate<Input>) {
        self.init(making: {
            do {
                return try NSPredicate.made(of: predicate)
            } catch { misuse("A Swift predicate cannot be made an NSPredicate: \(error)") }
        })
    }

    /// The same for a predicate that comes from elsewhere, such as an archive.
    ///
    /// - Throws: `CocoaError.formatting` for a part that has no counterpart, naming it.
    public convenience init<Input: NSObject>(translating predicate: Foundation.Predicate<Input>) throws {
        try self.init(making: { () throws -> NSPredicate in
            do { return try NSPredicate.made(of: predicate) } catch {
                throw CocoaError(
                    .formatting,
                    userInfo: [NSLocalizedDescriptionKey: "A Swift predicate cannot be made an NSPredicate: \(error)"])
            }
        })
    }

    private static func made<Input>(of predicate: Foundation.Predicate<Input>) throws(PredicateError) -> NSPredicate {
        var translation = SwiftTranslation(asking: predicate.variable.key)
        return try translation.term(predicate.expression).condition()
    }
}

extension NSExpression {
    /// The expression that comes to the same as a Swift expression of a managed object; see `NSPredicate.init(_:)`.
    public convenience init?<Input: NSObject, Output>(_ expression: Foundation.Expression<Input, Output>) {
        var translation = SwiftTranslation(asking: expression.variable.key)
        do {
            self.init(content: try translation.term(expression.expression).expression().content)
        } catch { misuse("A Swift expression cannot be made an NSExpression: \(error)") }
    }
}
