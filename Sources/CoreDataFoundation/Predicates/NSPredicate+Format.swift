// Predicates and expressions from format texts.

import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import struct CoreDataValues.PredicateError
import Foundation

/// Lets an initialiser of Foundation's class answer an instance of a subclass.
public protocol PredicateMaking {}

extension NSPredicate: PredicateMaking {}

extension PredicateMaking where Self == NSPredicate {
    /// A predicate that every object satisfies.
    public init() { self = NSPredicate(value: true) }
}

extension PredicateMaking {
    init(making make: () throws -> NSPredicate) rethrows {
        let predicate = try make()
        self =
            ObjectIdentifier(Self.self) == ObjectIdentifier(NSPredicate.self)
            ? unsafeBitCast(predicate, to: Self.self) : Self.subclass(predicate)
    }

    /// Apart from the usual case: the type of the cast's answer is asked of the runtime at each call (600 instructions).
    @inline(never)
    private static func subclass(_ predicate: NSPredicate) -> Self {
        guard let made = predicate as? Self else {
            preconditionFailure("A format text makes an object of another class than \(Self.self).")
        }
        return made
    }
}

extension NSPredicate {
    /// A predicate from a text such as `"name BEGINSWITH[c] %@ AND age > %d"`.
    ///
    /// A text that cannot be read is a programmer's mistake and traps with the text and the place, as on Apple's systems;
    /// for texts that come from outside there is `init(validating:_:)`. Arguments that the text does not ask for mean nothing.
    public convenience init(format predicateFormat: String, _ args: Any?...) {
        self.init(trapping: predicateFormat, args)
    }

    public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        self.init(trapping: predicateFormat, arguments ?? [])
    }

    private convenience init(trapping predicateFormat: String, _ arguments: [Any?]) {
        self.init(making: {
            do {
                return try FormatReader(arguments).predicate(predicateFormat)
            } catch {
                misuse(String(describing: error))
            }
        })
    }

    /// A predicate from a text that comes from outside, such as a search that a user wrote.
    ///
    /// Neither making nor evaluating it ends the process, whatever the text says. A fetch may still refuse it, by throwing, since only
    /// there the entity is known. Costs the evaluator's compilation beside the reading.
    ///
    /// - Throws: `CocoaError.formatting` with the place of the fault, what should stand there, and the nearest right spelling; also for
    ///   arguments of another kind or number than the text asks for, variables, and what memory cannot evaluate.
    public convenience init(validating predicateFormat: String, _ arguments: Any...) throws {
        try self.init(validating: predicateFormat, argumentArray: arguments)
    }

    /// The same with the arguments in an array.
    public convenience init(validating predicateFormat: String, argumentArray arguments: [Any]) throws {
        try self.init(making: { () throws -> NSPredicate in
            do {
                return try FormatReader(arguments).valid(predicateFormat)
            } catch let error as PredicateError {
                throw CocoaError(.formatting, userInfo: [NSLocalizedDescriptionKey: error.sentence])
            }
        })
    }

    /// The same for a text that may be wrong, or a template with variables.
    ///
    /// - Throws: an error that names the text and the place of the fault.
    package convenience init(parsing predicateFormat: String, arguments: [Any] = []) throws {
        try self.init(making: { try FormatReader(arguments).predicate(predicateFormat) })
    }

    /// Predicates that were archived can be evaluated without it.
    public func allowEvaluation() {}

    /// The predicate with constants in the place of its variables; variables without a value stay.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
        Self(making: { Substitution(variables).predicate(self) })
    }
}

extension NSExpression {
    /// An expression from a text such as `"price * %d"`; a text that cannot be read traps.
    public convenience init(format expressionFormat: String, _ args: Any?...) {
        self.init(trapping: expressionFormat, args)
    }

    public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
        self.init(trapping: expressionFormat, arguments)
    }

    private convenience init(trapping expressionFormat: String, _ arguments: [Any?]) {
        do {
            let made = try FormatReader(arguments).expression(expressionFormat)
            self.init(content: made.content)
        } catch {
            misuse(String(describing: error))
        }
    }
}
