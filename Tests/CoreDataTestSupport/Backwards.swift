// A program's own transformer.

import CoreData
import Foundation

/// A text as its bytes backwards. It refuses "refused" and bytes that are no text.
package final class Backwards: ValueTransformer {
    package override class func transformedValueClass() -> AnyClass { NSData.self }

    package override func transformedValue(_ value: Any?) -> Any? {
        guard let text = value as? String, text != "refused" else { return nil }
        return Data(text.utf8.reversed())
    }

    package override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).flatMap { String(data: Data($0.reversed()), encoding: .utf8) }
    }
}
