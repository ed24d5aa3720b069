// A class in the type records of the loaded images, found by its name in any module.

import CCoreDataRuntime
import Foundation

/// A class and where it is declared.
struct RecordedClass {
    private let descriptor: UnsafeRawPointer
    let module: String
    /// The names of the enclosing types, outermost first, and of the class.
    let path: [String]
    /// Whether it is declared inside a function.
    let isLocal: Bool
    let isGeneric: Bool

    /// The name by which a model finds the class.
    var name: String { ([module] + path).joined(separator: ".") }

    /// Returns up to 64 classes of a name.
    static func named(_ name: String) -> [RecordedClass] {
        withUnsafeTemporaryAllocation(of: UnsafeRawPointer?.self, capacity: 64) { found in
            guard let room = found.baseAddress else { return [] }
            room.initialize(repeating: nil, count: found.count)
            return found.prefix(coredata_classes(name, room, found.count)).compactMap { $0.map(RecordedClass.init) }
        }
    }

    /// Returns all classes of a name, of any kind.
    static func allNamed(_ name: String) -> [AnyClass] {
        var room = 64
        while true {
            let found = withUnsafeTemporaryAllocation(of: UnsafeRawPointer?.self, capacity: room) { found in
                guard let start = found.baseAddress else { return [UnsafeRawPointer]() }
                start.initialize(repeating: nil, count: room)
                return found.prefix(coredata_classes(name, start, room)).compactMap { $0 }
            }
            if found.count < room {
                return found.compactMap { coredata_metadata_of_class($0).map { unsafeBitCast($0, to: AnyClass.self) } }
            }
            room *= 4
        }
    }

    /// The record of a loaded class.
    init?(_ type: AnyClass) {
        // Class metadata on Linux: kind, superclass, flags and address point, sizes, class size and address point, descriptor.
        let words = unsafeBitCast(type, to: UnsafePointer<UnsafeRawPointer?>.self)
        guard let descriptor = words[5] else { return nil }
        self.init(descriptor)
    }

    private init(_ descriptor: UnsafeRawPointer) {
        self.descriptor = descriptor
        isGeneric = coredata_scope_at(descriptor).is_generic != 0
        var path: [String] = []
        var module = ""
        var isLocal = false
        var next: UnsafeRawPointer? = descriptor
        var isAnonymous = false
        while let place = next {
            let scope = coredata_scope_at(place)
            let name = scope.name.map { String(cString: $0) } ?? ""
            switch scope.kind {
            case coredata_scope_type: path.insert(name, at: 0)
            case coredata_scope_module: module = name
            // A private type has one anonymous scope around it, a declaration in a function two.
            case coredata_scope_anonymous: isLocal = isLocal || isAnonymous
            default: break
            }
            isAnonymous = scope.kind == coredata_scope_anonymous
            next = scope.outer
        }
        self.path = path
        self.module = module
        self.isLocal = isLocal
    }

    /// The class itself; nil if it is generic or no managed object class.
    var type: NSManagedObject.Type? {
        coredata_metadata_of_class(descriptor).flatMap { unsafeBitCast($0, to: AnyClass.self) as? NSManagedObject.Type }
    }

    /// Whether it inherits from `NSManagedObject`, found without creating its metadata.
    var isManaged: Bool {
        let root = RecordedClass(NSManagedObject.self)?.descriptor
        var next: UnsafeRawPointer? = descriptor
        while let place = next, place != root { next = coredata_superclass(place) }
        return next != nil
    }
}
