// The door between objects and stores: values only, by the batch.

/// A place rows are kept: memory, SQLite, a program's own store. It has all three roles; whoever needs one of them asks for that one.
///
/// Every method may be called from any thread; a store does its own locking. Errors are `StoreError`.
package protocol RowStore: StoreReader, StoreWriter, StoreKeeper {}
