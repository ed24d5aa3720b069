// The touched rows of one save for one store.

import CoreDataValues

/// Packs objects whose rows only get a new version.
struct TouchList {
    private struct OpenTouch {
        let chunk: RowChunk
        var read: [Int32] = []
        var gains: [Bool] = []
        var group: TouchGroup { TouchGroup(entity: chunk.layout.entity, chunk: chunk, read: read, gains: gains) }
    }

    private var open: [OpenTouch] = []
    private var full: [TouchGroup] = []
    private(set) var rows: ContiguousArray<WrittenRow> = []

    /// - Parameters:
    ///   - gains: whether a member is added, for which the row must exist.
    ///   - room: how many rows of the entity there may be.
    mutating func add(_ object: NSManagedObject, gains: Bool, room: Int) {
        let state = object._state
        let place = openPlace(state.info, min(RowChunk.maximumCount, max(1, room)))
        let chunk = open[place].chunk
        let version = object.comparedVersion
        rows.append(WrittenRow(object: object, chunk: chunk, row: chunk.count))
        object.pack(into: chunk, key: state.pointee.number, version: TouchGroup.version(after: version))
        open[place].read.append(version)
        open[place].gains.append(gains)
    }

    private mutating func openPlace(_ info: EntityInfo, _ room: Int) -> Int {
        if let place = open.firstIndex(where: { $0.chunk.layout.entity == info.entity.index }) {
            if !open[place].chunk.isFull { return place }
            full.append(open.remove(at: place).group)
        }
        open.append(
            OpenTouch(chunk: RowChunk(layout: info.layout, capacity: room, arenaCapacity: min(8192, 256 * room))))
        return open.count - 1
    }

    var groups: [TouchGroup] { full.isEmpty ? open.map(\.group) : full + open.map(\.group) }

    var objects: Set<UnsafeMutableRawPointer> { Set(rows.map { $0.object.toOpaque() }) }
}
