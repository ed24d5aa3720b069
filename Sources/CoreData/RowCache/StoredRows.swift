// Rows read from a store for a conflict, bypassing all caches.

import CoreDataValues
import Foundation

/// Rows read from a store for a conflict, bypassing all caches.
struct StoredRows {
    private var found: [RowKey: RowSnapshot] = [:]
    private let schema: Schema

    /// - Throws: the store's error.
    init(_ keys: [RowKey], in store: any StoreReader) throws {
        schema = store.schema
        let schema = schema
        for (root, group) in Dictionary(grouping: keys, by: { schema[$0.entity].root }) {
            var found: [RowKey: RowSnapshot] = [:]
            do {
                try store.rows(for: Array(Set(group.map(\.number))), in: root, .latest) { batch in
                    for chunk in batch.chunks {
                        for index in 0..<chunk.count {
                            let row = chunk.row(index)
                            found[RowKey(entity: root, number: row.key(chunk.layout))] = RowSnapshot(
                                chunk: chunk, row: row)
                        }
                    }
                    return .more
                }
            } catch { throw CocoaError.reading(error) }
            self.found.merge(found) { $1 }
        }
    }

    subscript(key: RowKey) -> StoredRow {
        found[RowKey(entity: schema[key.entity].root, number: key.number)].map { .row($0) } ?? .gone
    }
}
