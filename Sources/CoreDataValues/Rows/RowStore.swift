// The door between objects and stores: values only, by the batch.

import Foundation

package enum FetchStep: Sendable { case more, stop }

/// A place rows are kept: memory, SQLite.
///
/// Every method may be called from any thread; a store does its own locking. Errors are `StoreError`.
package protocol RowStore: AnyObject, Sendable {
    var schema: Schema { get }
    /// The store's identity (`NSStoreUUID`) as it was when the store was opened; costs nothing.
    var identifier: String { get }
    /// The store's identity (`NSStoreUUID`) and what else is recorded beside the rows.
    func metadata() throws -> StoreMetadata
    /// Replaces the application's own metadata; written with the next commit or at once.
    func setMetadata(_ metadata: StoreMetadata) throws

    /// Finds rows. Batches arrive in the plan's order; `receive` may stop the fetch.
    func fetch(_ plan: FetchPlan, _ receive: (RowBatch) throws -> FetchStep) throws
    /// Counts what `fetch` would find, limit and offset included.
    func count(_ plan: FetchPlan) throws -> Int
    /// Finds values without an entity: what a plan whose projection is `.values` makes of the rows. Batches arrive in the plan's
    /// order, where it has one; `receive` may stop the fetch.
    func fetchValues(_ plan: FetchPlan, _ receive: (ValueRows) throws -> FetchStep) throws
    /// Reads single rows by key. Rows that are gone are left out. The keys are of one entity tree (`root`), each key's entity
    /// only a hint: the row found tells the true one.
    func rows(for numbers: [Int64], in root: EntityIndex, _ receive: (RowBatch) throws -> FetchStep) throws
    /// Reads the rows at the other end of a to-many of one object, in order when the relationship is ordered.
    func members(
        of relationship: RelationshipIndex, owner: RowKey, _ receive: (RowBatch) throws -> FetchStep) throws
    /// The keys at the other end of a to-many of one object, in order when the relationship is ordered, from a store that names
    /// members without reading them; nil from one that reads their rows in the same go.
    func memberKeys(of relationship: RelationshipIndex, owner: RowKey) throws -> [RowKey]?
    /// Whether a row is at the other end of a to-many of one object, from a store that can tell without a look at the other
    /// members; nil from one that cannot.
    func isMember(_ member: RowKey, of relationship: RelationshipIndex, owner: RowKey) throws -> Bool?
    /// Reads the rows at the other end of a to-many of many objects at once, each with its owner; in order for each owner when
    /// the relationship is ordered.
    func targets(
        of relationship: RelationshipIndex, from owners: [Int64], _ receive: (MemberBatch) throws -> FetchStep) throws
    /// `targets` for owners that are probably all there are: the rows of one owner need not stand together, and rows of other
    /// owners may be among them.
    func targets(
        of relationship: RelationshipIndex, fromAll owners: [Int64], _ receive: (MemberBatch) throws -> FetchStep
    ) throws
    /// Hands out numbers for new rows of the tree under `root`; none is handed out twice, gaps are legal.
    func allocateKeys(_ count: Int, in root: EntityIndex) throws -> Range<Int64>
    /// What becomes of history; known when the store is open.
    var history: HistoryKeeping { get }
    /// The number of the last transaction in the history, 0 for none; nil for a store that records none.
    func lastTransaction() throws -> Int64?
    /// Writes a batch as one transaction: all of it or nothing.
    func commit(_ batch: ChangeBatch) throws -> CommitOutcome
    /// Reads the side file of a value that a cell only refers to (`ExternalReference`).
    func externalData(named name: String) throws -> Data
    /// How many bytes that would be, without reading them; nil when there is no such file.
    func externalSize(named name: String) -> Int?
    /// Writes a copy of the store, as it is at one moment, to a file that does not exist yet.
    func backup(to target: URL) throws
    /// Ends the work that has begun, then releases files and connections. Later calls throw.
    func close() throws
}

extension RowStore {
    package func backup(to target: URL) throws {
        throw StoreError(
            134060, "unsupported: a copy of an open store that is not SQLite. Copy its file, or use migratePersistentStore.")
    }

    package func externalData(named name: String) throws -> Data {
        throw StoreError(134060, "This kind of store keeps every value in its row and has no file \(name).")
    }

    package func externalSize(named name: String) -> Int? { nil }

    package func memberKeys(of relationship: RelationshipIndex, owner: RowKey) throws -> [RowKey]? { nil }

    package func isMember(_ member: RowKey, of relationship: RelationshipIndex, owner: RowKey) throws -> Bool? { nil }

    package var history: HistoryKeeping { .none }
    package func lastTransaction() throws -> Int64? { nil }
}

/// What a fetch asks of a store.
package struct FetchPlan: Sendable {
    package var entity: EntityIndex
    package var includesSubentities = true
    /// nil for all rows.
    package var predicate: Predicate?
    package var sort: [SortTerm] = []
    /// 0 for no limit.
    package var limit = 0
    package var offset = 0
    package var projection = Projection.rows
    package init(entity: EntityIndex) { self.entity = entity }

    /// Whether cells are wanted; without them only keys, versions and entities are read.
    package var includesValues: Bool {
        get { if case .rows = projection { true } else { false } }
        set { projection = newValue ? .rows : .keys }
    }

    /// Whether it finds all rows of its entity.
    package var isEverything: Bool { predicate == nil && limit == 0 && offset == 0 }
}

/// One key of a sort order. Null sorts before everything; texts compare by Unicode scalar unless asked otherwise.
package struct SortTerm: Sendable, Hashable, Codable {
    package enum Comparison: Sendable, Hashable, Codable {
        case binary, caseInsensitive, localized, localizedCaseInsensitive, localizedStandard
    }
    package var keyPath: [String]
    package var isAscending = true
    package var comparison: Comparison = .binary
    package init(keyPath: [String], isAscending: Bool = true, comparison: Comparison = .binary) {
        self.keyPath = keyPath
        self.isAscending = isAscending
        self.comparison = comparison
    }
}

/// What a store records beside its rows.
package struct StoreMetadata: Sendable {
    /// `NSStoreUUID`, upper case.
    package var uuid: String
    /// `NSStoreType`.
    package var type: String
    package var modelVersionIdentifiers: [String]
    package var versionHashes: [String: Data]
    /// The application's own keys, as a binary property list of a dictionary.
    package var userInfo: Data?
    package init(uuid: String, type: String, modelVersionIdentifiers: [String], versionHashes: [String: Data], userInfo: Data? = nil) {
        self.uuid = uuid
        self.type = type
        self.modelVersionIdentifiers = modelVersionIdentifiers
        self.versionHashes = versionHashes
        self.userInfo = userInfo
    }
}

/// What a save writes. To-ones travel as cells of the rows; only what has no cell is listed apart.
package struct ChangeBatch: Sendable {
    /// New rows with their final keys, chunk by chunk, of one entity a chunk. Version 1, or a copied row's.
    package var inserts: [RowChunk] = []
    /// Changed rows, whole, with new values. The header has the *new* version; the old one is in `UpdateGroup`.
    package var updates: [UpdateGroup] = []
    package var deletes: [DeleteGroup] = []
    /// Rows that are in the save only because members came or went.
    package var touches: [TouchGroup] = []
    /// Pairs that come and go in many-to-many relationships, each pair named once, from the side that names the join table or
    /// its inverse.
    package var links: [LinkChange] = []
    /// New orders of ordered to-many relationships.
    package var orders: [OrderChange] = []
    /// One-to-many relationships without inverse keep their key in the destination's table.
    package var adoptions: [AdoptionChange] = []
    /// Rows that are not written but must have the version given.
    package var checks: [VersionCheck] = []
    /// Inserted rows that were there before and were deleted: one that is there again is a conflict.
    package var absences: [RowKey] = []
    /// What the history says beside the rows; nil for a store that records none.
    package var note: HistoryNote?
    package init() {}

    package var isEmpty: Bool {
        inserts.isEmpty && updates.isEmpty && deletes.isEmpty && links.isEmpty && orders.isEmpty && adoptions.isEmpty
            && checks.isEmpty && touches.isEmpty
    }

    /// How many rows of objects the batch writes or removes.
    package var rowCount: Int {
        inserts.reduce(0) { $0 + $1.count } + updates.reduce(0) { $0 + $1.chunk.count }
            + deletes.reduce(0) { $0 + $1.numbers.count } + touches.reduce(0) { $0 + $1.chunk.count }
    }
}

/// Rows of one entity that a save relies on without writing them, with the versions they were read with.
package struct VersionCheck: Sendable {
    package let entity: EntityIndex
    package let numbers: [Int64]
    package let expected: [Int32]
    package init(entity: EntityIndex, numbers: [Int64], expected: [Int32]) {
        self.entity = entity
        self.numbers = numbers
        self.expected = expected
    }
}

/// Rows of one entity in which the same slots changed.
package struct UpdateGroup: Sendable {
    package let entity: EntityIndex
    /// The slots to write, ascending. Empty when only the version rises.
    package let slots: [Int]
    package let chunk: RowChunk
    /// The version each row must still have, -1 for NULL.
    package let expected: [Int32]
    package init(entity: EntityIndex, slots: [Int], chunk: RowChunk, expected: [Int32]) {
        self.entity = entity
        self.slots = slots
        self.chunk = chunk
        self.expected = expected
    }
}

package struct DeleteGroup: Sendable {
    package let entity: EntityIndex
    package let numbers: [Int64]
    package let expected: [Int32]
    package init(entity: EntityIndex, numbers: [Int64], expected: [Int32]) {
        self.entity = entity
        self.numbers = numbers
        self.expected = expected
    }
}

package struct LinkChange: Sendable {
    package let relationship: RelationshipIndex
    package let owner: RowKey
    package var added: [RowKey]
    package var removed: [RowKey]
    package init(relationship: RelationshipIndex, owner: RowKey, added: [RowKey], removed: [RowKey]) {
        self.relationship = relationship
        self.owner = owner
        self.added = added
        self.removed = removed
    }
}

package struct OrderChange: Sendable {
    package let relationship: RelationshipIndex
    package let owner: RowKey
    package let members: [RowKey]
    /// Whether these are not all members but the last, in order, behind all that the store has.
    package let isTail: Bool
    /// The places of those that came or moved, ascending, if few did: without them the others stand in the order that was read.
    package let moved: [Int]?
    package init(
        relationship: RelationshipIndex, owner: RowKey, members: [RowKey], isTail: Bool = false, moved: [Int]? = nil
    ) {
        self.relationship = relationship
        self.owner = owner
        self.members = members
        self.isTail = isTail
        self.moved = moved
    }
}

/// Members that enter (`owner` set) or leave (`owner` nil) a to-many without inverse.
package struct AdoptionChange: Sendable {
    package let relationship: RelationshipIndex
    package let owner: RowKey
    package var added: [RowKey]
    package var removed: [RowKey]
    package init(relationship: RelationshipIndex, owner: RowKey, added: [RowKey], removed: [RowKey]) {
        self.relationship = relationship
        self.owner = owner
        self.added = added
        self.removed = removed
    }
}

package enum CommitOutcome: Sendable {
    /// Everything was written. `touched` are rows that the store changed beyond the batch (derived attributes): what is known
    /// of their values is out of date, rows of the batch among them. `overtaken` are those of the batch's touches that another
    /// writer has changed or removed since they were read.
    case committed(touched: [RowKey], overtaken: [RowKey] = [])
    /// Rows that are not as expected; nothing was written.
    case conflicts([Conflict])

    /// Everything was written and nothing else changed.
    package static var committed: CommitOutcome { .committed(touched: []) }
}

/// A row that another writer changed or removed since it was read, or that breaks a uniqueness constraint.
package struct Conflict: Sendable {
    package enum Kind: Sendable {
        /// The row has this version now.
        case changed(version: Int32)
        case deleted
        /// The constraint's attribute names.
        case constraint([String])
    }
    package let key: RowKey
    package let expected: Int32
    package let kind: Kind
    package init(key: RowKey, expected: Int32, kind: Kind) {
        self.key = key
        self.expected = expected
        self.kind = kind
    }
}
