// Which state of a store a read sees.

/// Every read names one.
package enum ReadView: Sendable {
    /// The state that the store has when the read begins. Costs nothing.
    case latest
    /// The state of the moment in which it was pinned, whatever is written meanwhile.
    case pinned(any PinnedView)
}

/// One state of a store, kept until it is closed or let go. May be used from any thread; reads of one view run one after the other.
package protocol PinnedView: AnyObject, Sendable {
    /// Lets the state go; later reads of it throw 134070. A read that runs is completed first.
    func close()
}

extension ReadView {
    /// For a store that shows nothing but its latest state.
    ///
    /// - Throws: 134060 for a pinned view, which can only be another store's.
    package func requireLatest() throws(StoreError) {
        if case .pinned = self { throw ReadView.foreign }
    }

    package static var foreign: StoreError {
        StoreError(134060, "A read named a view that was pinned by another store. Pin one of the store that is read.")
    }

    package static var closed: StoreError {
        StoreError(134070, "A read named a view that is closed, or whose store is. Pin a new one.")
    }
}
