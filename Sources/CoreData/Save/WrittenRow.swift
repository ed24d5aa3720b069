// The row of an object.

import CoreDataValues
import Foundation

/// The row of an object. The save's lists hold the object, the batch holds the chunk; this holds neither.
struct WrittenRow {
    let object: Unmanaged<NSManagedObject>
    let chunk: Unmanaged<RowChunk>
    let row: Int

    init(object: NSManagedObject, chunk: RowChunk, row: Int) {
        self.object = .passUnretained(object)
        self.chunk = .passUnretained(chunk)
        self.row = row
    }

    var key: RowKey {
        chunk._withUnsafeGuaranteedRef { RowKey(entity: $0.layout.entity, number: $0.row(row).key($0.layout)) }
    }

    func accept() {
        object._withUnsafeGuaranteedRef { object in
            chunk._withUnsafeGuaranteedRef { object.acceptRow($0, row) }
        }
    }
}
