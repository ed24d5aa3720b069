// Where in a program a call came from.

/// A place in the program's own source, or the function's name where nothing is known of files.
package struct CallSite: Sendable, Hashable, CustomStringConvertible {
    /// nil where there is no debug information.
    package let file: String?
    package let line: Int
    package let function: String

    package init(file: String?, line: Int, function: String) {
        self.file = file
        self.line = line
        self.function = function
    }

    package var description: String { file.map { "\($0):\(line)" } ?? function }
}
