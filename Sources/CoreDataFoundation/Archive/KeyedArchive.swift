// Values as keyed archives, and back.

import CoreDataValues
import Foundation

/// Archives in the format of `NSKeyedArchiver`.
///
/// Foundation's own archiver and unarchiver end the process on data that they do not expect (tried: a class that is not
/// allowed, an object without secure coding, a decimal number, an object that holds itself). What they are given here was looked
/// through and measured before; the classes of property lists they never see.
package enum KeyedArchive {
    /// How many objects may lie in one another.
    static let deepest = ArchiveLimits.objects.depth

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
    /// - Throws: `ArchiveError` for classes that are not allowed, and for more or deeper objects than are read.
    static func check(_ data: Data, allowing allowed: [AnyClass]?) throws(ArchiveError) {
        var reader = try KeyedArchiveReader(data, allowing: allowed)
        _ = try reader.value()
    }

    /// - Parameter allowed: the classes that the archived object may be of, and objects inside it, beside those of property
    ///   lists; nil for any class that supports secure coding.
    /// - Throws: `ArchiveError` for data that is no archive, for classes that are not allowed, and for more or deeper objects than
    ///   `ArchiveLimits.objects`.
    package static func value(of data: Data, allowing allowed: [AnyClass]?) throws(ArchiveError) -> Any {
        var reader = try KeyedArchiveReader(data, allowing: allowed)
        if let value = try reader.value() { return value }
        let found: Any?
        do {
            found = try NSKeyedUnarchiver.unarchivedObject(
                ofClasses: reader.classes + KeyedArchive.plain, from: reader.rewritten)
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
