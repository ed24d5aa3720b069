// The second role of a store: writing.

/// Takes changes, each as a whole or not at all.
package protocol StoreWriter: StoreRole {
    /// Hands out numbers for new rows of the tree under `root`; none is handed out twice, gaps are legal.
    func allocateKeys(_ count: Int, in root: EntityIndex) throws -> Range<Int64>
    /// Writes a batch as one transaction: all of it or nothing.
    func commit(_ batch: ChangeBatch) throws -> CommitOutcome
    /// Changes a set of rows as one transaction: all of it or nothing.
    func apply(_ change: SetChange) throws -> SetOutcome
}
