// What is wrong with a predicate.

/// A predicate that cannot be read, compiled or asked: a sentence that names the text or the part and says why.
package struct PredicateError: Error, Sendable, Hashable, CustomStringConvertible {
    package var sentence: String
    /// Where in the format text, counted in Unicode scalars from 0; nil when the fault has no place in a text.
    package var position: Int?
    package init(_ sentence: String, position: Int? = nil) {
        self.sentence = sentence
        self.position = position
    }
    package var description: String { sentence }
}
