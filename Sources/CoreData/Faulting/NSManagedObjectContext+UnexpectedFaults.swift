// Refusing faults: unexpected reads are answered and reported.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Whether every fired fault is unexpected: answered, and reported to `unexpectedFaultHandler`. False by default.
    ///
    /// A fault with a row in memory reads nothing and is not reported. See also `NSFetchRequest.refusesFaults`.
    public final var refusesFaults: Bool {
        get { faulting.watch?.refusesAll ?? false }
        set {
            faulting.requiredWatch.refusesAll = newValue
            faulting.lookWhetherTracing()
        }
    }

    /// Called for each unexpected fault, on the context's queue, before the read. Without it a warning is printed.
    public final var unexpectedFaultHandler: ((UnexpectedFault) -> Void)? {
        get { faulting.watch?.handler }
        set { faulting.requiredWatch.handler = newValue }
    }

    /// Runs a block in which no fault should fire. Faults are answered all the same.
    ///
    /// Marks the registered objects when it begins and ends, a pass over all of them.
    ///
    /// - Throws: what the block throws; else, if faults fired, one 134060 with all of them under
    ///   `UnexpectedFaultsErrorKey` (`CocoaError.unexpectedFaults`).
    public final func withoutFaulting<Result>(_ body: () throws -> Result) throws -> Result {
        let watch = faulting.requiredWatch
        watch.blocks.append([])
        faulting.lookWhetherTracing()
        defer { faulting.lookWhetherTracing() }
        let result: Result
        do {
            result = try body()
        } catch {
            watch.blocks.removeLast()
            throw error
        }
        let faults = watch.blocks.removeLast()
        guard faults.isEmpty else { throw CocoaError.unexpected(faults) }
        return result
    }
}
