// Why a property list or an archive was not read, and how much of one is.

/// A property list or an archive that cannot be read, or a value that cannot be archived: why.
package struct ArchiveError: Error, Sendable, CustomStringConvertible {
    package let sentence: String
    package init(_ sentence: String) { self.sentence = sentence }
    package var description: String { sentence }
}

/// How much a reader takes of bytes that may mean harm. Their number alone says little: in a binary property list and in a keyed
/// archive a few hundred of them can stand for 2^40 things, since one thing may be part of many others.
package struct ArchiveLimits: Sendable {
    /// The length of the data.
    package var bytes = Int.max
    /// How many things lie in one another.
    package var depth = 512
    /// Things, each counted once.
    package var nodes = Int.max
    /// Things, those that several others share counted for each of them.
    package var expanded: Int

    /// The objects of an archive that is made into values.
    package static let objects = ArchiveLimits(nodes: 100_000, expanded: 200_000)

    /// A document of so many bytes, as large as it is. Each part of a thing takes a byte at least, so one that shares no containers
    /// stays below; no writer shares them.
    package static func document(bytes: Int) -> ArchiveLimits { ArchiveLimits(expanded: max(200_000, bytes)) }

    /// The metadata of a store.
    package static func metadata(bytes: Int) -> ArchiveLimits {
        ArchiveLimits(bytes: metadataBytes, expanded: max(200_000, bytes))
    }
    package static let metadataBytes = 16 << 20

    func check(bytes count: Int) throws(ArchiveError) {
        guard count > bytes else { return }
        throw ArchiveError("It has \(count) bytes, more than the \(bytes) that are read.")
    }

    func check(nodes count: Int) throws(ArchiveError) {
        guard count > nodes else { return }
        throw ArchiveError("It holds \(count) things, more than the \(nodes) that are read.")
    }

    var tooDeep: ArchiveError { ArchiveError("It holds things more than \(depth) levels deep, the limit.") }
    var tooLarge: ArchiveError {
        ArchiveError(
            "It stands for more than \(expanded) things once shared parts are counted for each that holds them, the limit."
        )
    }
}
