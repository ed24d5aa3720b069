// The touched rows of one save for one store.

import CoreDataValues

/// Packs objects whose rows only get a new version.
struct TouchList {
    private typealias Versions = (read: [Int32], gains: [Bool])
    private var packer: ObjectPacker<UInt16, Versions>
    private(set) var rows: ContiguousArray<WrittenRow> = []

    /// - Parameter room: how many rows there may be.
    init(room: Int) { packer = ObjectPacker(room: room, first: RowChunk.maximumCount) }

    /// - Parameter gains: true if a member was added; then the row must exist.
    mutating func add(_ object: NSManagedObject, gains: Bool) {
        let state = object._state
        let version = object.comparedVersion
        let chunk = packer.pack(
            object, as: state.pointee.entity, key: state.pointee.number, version: TouchGroup.version(after: version),
            note: ([], []))
        rows.append(WrittenRow(object: object, lastOf: chunk))
        packer.note.read.append(version)
        packer.note.gains.append(gains)
    }

    var groups: [TouchGroup] {
        packer.packed.map {
            TouchGroup(
                entity: $0.chunk.layout.entity, chunk: $0.chunk, read: $0.note.read, gains: $0.note.gains)
        }
    }

    var objects: Set<UnsafeMutableRawPointer> { Set(rows.map { $0.object.toOpaque() }) }
}
