// What a keyed archive is made of: the things of a binary property list, references between objects included.

import Foundation

/// One thing of a binary property list.
indirect enum ArchiveNode {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Beyond `Int64.max`.
    case large(UInt64)
    case real(Double)
    /// Seconds since 2001.
    case date(Double)
    case data(Data)
    case text(String)
    /// The place of an object in the archive's list.
    case reference(Int)
    case array([ArchiveNode])
    case dictionary([String: ArchiveNode])
}

/// An archive that cannot be read, or a value that cannot be archived: why.
package struct ArchiveError: Error, Sendable, CustomStringConvertible {
    package let sentence: String
    init(_ sentence: String) { self.sentence = sentence }
    package var description: String { sentence }
}

/// Archives in the format of `NSKeyedArchiver`.
///
/// Foundation's own archiver and unarchiver end the process on data that they do not expect (tried: a class that is not
/// allowed, an object without secure coding, a decimal number). What they are given here was looked through before; the classes of
/// property lists they never see.
package enum KeyedArchive {
    /// How deep things may lie in one another.
    static let deepest = 200

    /// - Throws: `ArchiveError`, which names the type that cannot be archived.
    package static func data(of value: Any) throws(ArchiveError) -> Data {
        var writer = KeyedArchiveWriter()
        if let archive = try writer.archive(value) { return archive }
        do {
            return try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
        } catch { throw ArchiveError("\(type(of: value)) cannot be archived: \(error).") }
    }

    /// Looks at the classes of an archive's objects; makes none of those that code themselves.
    ///
    /// - Throws: `ArchiveError` for classes that are not allowed.
    static func check(_ data: Data, allowing allowed: [AnyClass]?) throws(ArchiveError) {
        var reader = try KeyedArchiveReader(data, allowing: allowed)
        _ = try reader.value()
    }

    /// - Parameter allowed: the classes that the archived object may be of, and objects inside it, beside those of property
    ///   lists; nil for any class that supports secure coding.
    /// - Throws: `ArchiveError` for data that is no archive and for classes that are not allowed.
    package static func value(of data: Data, allowing allowed: [AnyClass]?) throws(ArchiveError) -> Any {
        var reader = try KeyedArchiveReader(data, allowing: allowed)
        if let value = try reader.value() { return value }
        let found: Any?
        do {
            found = try NSKeyedUnarchiver.unarchivedObject(ofClasses: reader.classes + KeyedArchive.plain, from: data)
        } catch { throw ArchiveError("The archive cannot be read: \(error).") }
        guard let found else { throw ArchiveError("The archive's object refused to be made of it.") }
        return found
    }

    /// The classes of property lists and the like.
    package static let plain: [AnyClass] = [
        NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
        NSURL.self, NSUUID.self, NSNull.self,
    ]
}
