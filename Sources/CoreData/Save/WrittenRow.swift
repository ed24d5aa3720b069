// A written row and its object.

import CoreDataValues
import Foundation

/// A written row and its object. Retains neither: the save's lists hold the object, the batch holds the chunk.
struct WrittenRow {
    let object: Unmanaged<NSManagedObject>
    let chunk: Unmanaged<RowChunk>
    let row: Int

    init(object: NSManagedObject, lastOf chunk: RowChunk) {
        self.object = .passUnretained(object)
        self.chunk = .passUnretained(chunk)
        row = chunk.count - 1
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
