// The one way to stop a program that broke its contract.

import Foundation

/// Ends the process because the caller broke a contract that no error could repair.
///
/// For contracts only (an unbalanced call, a wrong queue), never for what data can cause: that is thrown. The sentence, which says
/// what was done and what to do, goes to standard error first: a trap alone says nothing in a release build.
package func misuse(_ sentence: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
    FileHandle.standardError.write(Data("CoreData misuse: \(sentence)\n".utf8))
    preconditionFailure("CoreData misuse, see the line before.", file: file, line: line)
}
