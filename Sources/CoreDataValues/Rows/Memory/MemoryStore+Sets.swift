// Set changes of a store in memory.

extension MemoryStore {
    /// Nobody else writes between what is read for the change and its commit.
    package func apply(_ change: SetChange) throws -> SetOutcome {
        let work = try SetWork(change, in: schema)
        if let rows = work.stream {
            return try withState { state in
                var insertion = MemoryInsertion(self, work, rows.rules, state)
                return try insertion.run(rows, &state)
            }
        }
        return try withState { state in
            let reader = MemoryStore(like: self, state)
            return try work.run(over: reader, attempts: 1) { batch in
                // A hold on the tables would have them copied.
                try reader.close()
                return try commit(batch, to: &state)
            }
        }
    }
}
