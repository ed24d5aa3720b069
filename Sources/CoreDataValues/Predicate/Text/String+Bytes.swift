// Texts by their bytes.

import Foundation

extension String {
    /// Whether both are the same UTF-8; Swift's `==` also calls composed and decomposed texts equal.
    package func hasSameBytes(_ other: String) -> Bool {
        let (own, others) = (utf8, other.utf8)
        if own.count != others.count { return false }
        let isSame = own.withContiguousStorageIfAvailable { own in
            others.withContiguousStorageIfAvailable { others in
                own.isEmpty || memcmp(own.baseAddress!, others.baseAddress!, own.count) == 0
            }
        }
        return (isSame ?? nil) ?? own.elementsEqual(others)
    }
}
