// What a program asks of histories.

import Foundation

/// What the answer to a history request is.
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// Whether there is anything; of a deletion, that it was done.
    case statusOnly = 0
    /// The IDs of the changed objects, each once.
    case objectIDs = 1
    /// How many changes there are; of a deletion, how many transactions are gone.
    case count = 2
    /// Transactions whose `changes` are nil.
    case transactionsOnly = 3
    /// Changes without the transactions around them.
    case changesOnly = 4
    case transactionsAndChanges = 5
}

/// Reads the histories of stores, or removes what came before a point of them.
///
/// A history has transactions where `NSPersistentHistoryTrackingKey` was on when they were saved. `execute(_:)` of a context answers a
/// `NSPersistentHistoryResult`, oldest first. It throws 134091, naming the store, where a store keeps no history; 134301 where some of
/// what came after a token is gone; 134060 for a token that names none of the stores. Cost: a read of each store, and the result is in
/// memory; `transactions(after:)` of a coordinator reads as it is pulled.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    /// Where in the histories it begins, or up to where they go.
    enum Point {
        case everything
        case date(Date)
        case token(NSPersistentHistoryToken)
    }

    private(set) final var point = Point.everything
    private(set) final var deletes = false

    /// `.transactionsAndChanges` at first, `.statusOnly` for a deletion.
    open var resultType: NSPersistentHistoryResultType = .transactionsAndChanges

    /// Which transactions or changes, in which order and how many: a request of `NSPersistentHistoryTransaction.fetchRequest`, for
    /// transactions with all of their changes, or of `NSPersistentHistoryChange.fetchRequest`, for changes and the transactions around
    /// them. Its predicate runs as SQL.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    /// The point that the request was made with; nil for a date, and for everything.
    open var token: NSPersistentHistoryToken? {
        if case .token(let token) = point { token } else { nil }
    }

    public required override init() { super.init() }

    private class func make(_ point: Point, deletes: Bool = false) -> Self {
        let request = Self()
        request.point = point
        request.deletes = deletes
        if deletes { request.resultType = .statusOnly }
        return request
    }

    /// Transactions that were made later than a date.
    public class func fetchHistory(after date: Date) -> Self { make(.date(date)) }

    /// Transactions after a token; all for nil.
    public class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
        make(token.map { .token($0) } ?? .everything)
    }

    /// Transactions after another one; all for nil.
    public class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        fetchHistory(after: transaction?.token)
    }

    /// Transactions, or changes, that a fetch request finds; see `fetchRequest`.
    public class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
        let request = make(.everything)
        request.fetchRequest = fetchRequest
        return request
    }

    /// Removes the transactions before the first one that is not older than a date.
    public class func deleteHistory(before date: Date) -> Self { make(.date(date), deletes: true) }

    /// Removes the transactions before the one that a token names, which stays; all for nil.
    public class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
        make(token.map { .token($0) } ?? .everything, deletes: true)
    }

    /// Removes the transactions before another one, which stays; all for nil.
    public class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
        deleteHistory(before: transaction?.token)
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = Swift.type(of: self).make(point, deletes: deletes)
        copy.resultType = resultType
        copy.fetchRequest = fetchRequest?.duplicate()
        copy.affectedStores = affectedStores
        return copy
    }

    override func executed(in context: NSManagedObjectContext) throws -> Any { try result(in: context) }

    override func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let run = try HistoryRun(self, context.requiredCoordinator)
        return NSPersistentHistoryResult(resultType, try deletes ? run.delete() : run.fetch())
    }
}

/// The answer to a history request.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    public final let resultType: NSPersistentHistoryResultType
    /// A boolean, object IDs, a number, transactions or changes, as the type says.
    public final let result: Any?

    init(_ type: NSPersistentHistoryResultType, _ result: Any) {
        resultType = type
        self.result = result
        super.init()
    }
}
