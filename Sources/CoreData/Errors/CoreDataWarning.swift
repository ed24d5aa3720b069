// Telling what is no error and still not as the program may think.

import Foundation
import Synchronization

/// Where warnings go: what a model says that is taken in one of two ways, a class that is not found.
public enum CoreDataWarning {
    private static let held = Mutex<(@Sendable (String) -> Void)?>(nil)

    /// Takes each warning, a sentence without line end; nil, at first, for standard error. Called on any thread.
    public static var handler: (@Sendable (String) -> Void)? {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }

    /// Tells what a program had defined over the tables of a store that was migrated, and what could not stay.
    static func tell(removed definitions: [String], from store: URL) {
        if definitions.isEmpty { return }
        warn(
            "The store at \(store.path) was migrated, and the database cannot make sense of these any more, which are removed: "
                + "\(definitions.joined(separator: ", ")). Define them anew over the new tables.")
    }
}

/// Tells the program of something that is not as it may think.
func warn(_ sentence: String) {
    if let handler = CoreDataWarning.handler { return handler(sentence) }
    // Where nobody can be told, as on a full disk, the program goes on.
    try? FileHandle.standardError.write(contentsOf: Data("warning: \(sentence)\n".utf8))
}
