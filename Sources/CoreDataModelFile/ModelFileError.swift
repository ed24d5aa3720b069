// What is wrong with a model file before anything in it can be read.

import Foundation

/// A model that is not there, or whose files are not what a model is made of.
package struct ModelFileError: LocalizedError, Sendable, Equatable, CustomStringConvertible {
    package var path: String
    package var message: String
    /// Known where the trouble lies inside a file.
    package var line: Int?
    package var column: Int?

    package init(_ message: String, path: String, line: Int? = nil, column: Int? = nil) {
        self.message = message
        self.path = path
        self.line = line
        self.column = column
    }

    /// `PATH:LINE:COLUMN: error: TEXT`, the form compilers use; without a place in the file, `PATH: error:
    /// TEXT`.
    package var description: String {
        let place = [line, column].compactMap { $0 }.map { ":\($0)" }.joined()
        return "\(path)\(place): error: \(message)"
    }

    /// What Foundation shows of it.
    package var errorDescription: String? { message }
}
