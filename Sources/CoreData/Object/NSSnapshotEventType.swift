// Why an object's values were reset from a snapshot.

import Foundation

/// The reasons why an object's values were reset from a snapshot (`awake(fromSnapshotEvents:)`).
public struct NSSnapshotEventType: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let undoInsertion = NSSnapshotEventType(rawValue: 2)
    public static let undoDeletion = NSSnapshotEventType(rawValue: 4)
    public static let undoUpdate = NSSnapshotEventType(rawValue: 8)
    public static let rollback = NSSnapshotEventType(rawValue: 16)
    public static let refresh = NSSnapshotEventType(rawValue: 32)
    public static let mergePolicy = NSSnapshotEventType(rawValue: 64)
}
