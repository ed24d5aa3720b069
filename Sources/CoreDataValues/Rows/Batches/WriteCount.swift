// How often a store was written.

/// Counts that only differences of mean something.
package struct WriteCount: Sendable, Equatable {
    /// Commits of whoever has the store open.
    package let all: Int64
    /// Those of this store.
    package let own: Int64
    /// A number that changes where new rows are numbered, which is mostly a commit of its own.
    package let numbering: Int64
    /// nil where commits are not counted one by one: several between two questions may be one.
    package let log: Log?

    package init(all: Int64, own: Int64, numbering: Int64, log: Log?) {
        self.all = all
        self.own = own
        self.numbering = numbering
        self.log = log
    }

    /// How far the write-ahead log was written.
    package struct Log: Sendable, Equatable {
        /// Changes when the log is overwritten from its start.
        let generation: UInt32
        /// Pages in it.
        let frames: UInt32

        package init(generation: UInt32, frames: UInt32) {
            self.generation = generation
            self.frames = frames
        }

        /// Pages that were written since then; after it was begun anew those since the beginning.
        package func frames(since former: Log) -> Int {
            Int(frames) - (generation == former.generation ? Int(former.frames) : 0)
        }
    }
}
