// The part of a context that makes objects of rows and reads the rows of faults.

/// Makes objects of rows, and reads the rows of faults: one by one, together with their siblings, and beforehand.
final class Faulting {
    /// The context that this is a part of, and which lives as long.
    var context: NSManagedObjectContext { owner.unsafelyUnwrapped.takeUnretainedValue() }
    @exclusivity(unchecked) private var owner: Unmanaged<NSManagedObjectContext>?

    /// The first error of a read inside a getter, until a call can throw it.
    var readError: (any Error)?
    /// Increases whenever rows that objects hold may have become old: at saves, merges and refreshes.
    var rowTime = 0
    /// Whether rows are being read that the program does not see: for a delete rule, a write or a save.
    @exclusivity(unchecked) var readsUnseen = false
    /// Rows that were read with a fault and have no object yet.
    var waitingRows: [WaitingRows] = []
    /// Faults that came one by one, in a group for each tree of entities and store.
    var openSiblings: [OpenSiblings] = []
    /// Whether firing a fault reads its siblings.
    var readsTogether = true
    /// Reports unexpected faults; nil until the program asks for it.
    var watch: FaultWatch?
    var isTellingOfFault = false
    /// Whether every fault is reported, so that it matters how objects are reached. Read for each to-many.
    @exclusivity(unchecked) var isTracing = false

    func begin(in context: NSManagedObjectContext) { owner = .passUnretained(context) }

    /// Hands out the context without retaining it, for what is done for each look-up (5 % of one, measured).
    @inline(__always)
    func withContext<R>(_ body: (NSManagedObjectContext) throws -> R) rethrows -> R {
        try owner.unsafelyUnwrapped._withUnsafeGuaranteedRef { try body($0) }
    }

    /// Keeps the error of a read that cannot throw it, unless one waits already.
    func keep(_ error: @autoclosure () -> any Error) { if readError == nil { readError = error() } }

    /// Throws the error of an earlier read in a getter, once.
    @inline(__always)
    func throwReadError() throws { if readError != nil { try throwKept() } }

    @inline(never)
    private func throwKept() throws {
        guard let error = readError else { return }
        readError = nil
        throw CocoaError.cancelledOr(error)
    }

    /// Forgets what belongs to objects that are let go.
    func reset() {
        readError = nil
        waitingRows = []
        openSiblings = []
        watch?.forgetPaths()
    }
}
