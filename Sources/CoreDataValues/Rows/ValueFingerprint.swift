// What stores are compared by.

/// How many values there are, and a sum over them in which their order plays no part.
package struct ValueFingerprint: Equatable, Sendable {
    package private(set) var count = 0
    private var sum: UInt64 = 0

    package init() {}

    package mutating func add(_ hash: UInt64) {
        count += 1
        sum &+= hash
    }
}
