// What bodies throw, and what processes say.

import CoreData
import CoreDataValues
import Foundation

/// The error that a body throws, if it is one of Core Data's.
package func caught(_ body: () throws -> Void) -> CocoaError? {
    do { try body() } catch { return error as? CocoaError }
    return nil
}

/// The code of what a body throws: nil for nothing, -1 for what has none.
package func code(of body: () throws -> Void) -> Int? {
    do { try body() } catch { return (error as? CocoaError)?.number ?? (error as? StoreError)?.code ?? -1 }
    return nil
}

extension CocoaError {
    package var number: Int { code.rawValue }
    /// What it says to people.
    package var sentence: String { userInfo[NSLocalizedDescriptionKey] as? String ?? "" }
}

extension CocoaError? {
    package var number: Int? { self?.number }
    package var sentence: String { self?.sentence ?? "" }
}

/// Whether each of the words is in what a process has written.
package func said(_ output: [UInt8]?, _ words: String...) -> Bool {
    let text = String(decoding: output ?? [], as: UTF8.self)
    return words.allSatisfy(text.contains)
}
