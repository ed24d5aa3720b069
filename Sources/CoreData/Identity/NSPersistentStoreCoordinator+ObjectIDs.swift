// Object IDs by their URIs.

import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// The ID whose URI has this text.
    public final func managedObjectID(for string: String) -> NSManagedObjectID? {
        URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
    }

    /// The ID whose URI has this text in UTF-8; nil if the ID belongs to no store of this coordinator.
    ///
    /// - Parameters:
    ///   - text: the first byte.
    ///   - length: how many bytes of the text to read.
    public final func managedObjectID(fromUTF8String text: UnsafePointer<CChar>, length: Int) -> NSManagedObjectID? {
        let bytes = UnsafeRawBufferPointer(start: text, count: max(0, length))
        return managedObjectID(for: String(decoding: bytes, as: UTF8.self))
    }
}
