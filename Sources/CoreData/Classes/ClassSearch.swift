// Finds the class that a model names.

import CCoreDataRuntime
import CoreDataValues
import Foundation
import Synchronization

/// Finds the class that a model names: a registered one, a generated one, one of the module in the name or of the main
/// program, or one of any module, in this order.
enum ClassSearch {
    private struct State {
        var registered: [String: NSManagedObject.Type] = [:]
        /// Results by name as written; a class that was not found is searched again when more images are loaded.
        var found: [String: (type: NSManagedObject.Type?, images: Int)] = [:]
        var warned: Set<String> = []
    }
    private static let state = Mutex(State())

    /// The main program's module, named by the rules for packages.
    private static let mainModule: String = {
        let executable = Bundle.main.executableURL?.deletingPathExtension().lastPathComponent ?? ""
        return String(executable.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }()

    /// Returns the class that a model calls `name`; `NSManagedObject` if there is none, or several, with a warning.
    ///
    /// Ignores a leading dot ("the current product's module"): models are used where they were not made. Classes in
    /// functions have no path and are bound when a program first names them (`EntityInfo.bind`).
    static func type(named name: String?, for entity: Entity? = nil) -> NSManagedObject.Type {
        guard let name = name.map(bare), !name.isEmpty, name != "NSManagedObject" else { return NSManagedObject.self }
        if let registered = state.withLock({ $0.registered[name] }) { return registered }
        if let generated = GeneratedClasses.type(named: name, for: entity) { return generated }
        let images = coredata_images()
        let known: NSManagedObject.Type?? = state.withLock { state in
            guard let found = state.found[name], found.type != nil || found.images == images else { return nil }
            return found.type
        }
        if let known { return known ?? NSManagedObject.self }
        let type = find(name)
        state.withLock { $0.found[name] = (type, images) }
        return type ?? NSManagedObject.self
    }

    /// The name by which a model finds a class.
    static func name(of type: NSManagedObject.Type) -> String {
        guard type != NSManagedObject.self else { return "NSManagedObject" }
        guard let record = RecordedClass(type), !record.isGeneric else { return String(reflecting: type) }
        return record.name
    }

    /// How well a model's name means a class that a program used.
    enum Fit {
        /// With its module, or by registration.
        case wholeName
        /// In another module or in none.
        case lastName
    }

    /// How well a model's name means a class that a program used; nil when it cannot be that one.
    static func fit(_ type: NSManagedObject.Type, _ name: String) -> Fit? {
        if self.name(of: type) == name || state.withLock({ $0.registered[bare(name)] == type }) { return .wholeName }
        let last = name.split(separator: ".").last.map(String.init) ?? name
        return String(describing: type) == last ? .lastName : nil
    }

    /// Returns a top-level class by Foundation's look-up, of the module in the name or of the main program's.
    static func anyClass(named name: String) -> AnyClass? {
        let name = bare(name)
        // Foundation does not look up nested classes, and prints an error.
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).count
        return parts > 2
            ? nil : NSClassFromString(name) ?? (parts == 1 ? NSClassFromString("\(mainModule).\(name)") : nil)
    }

    static func register(_ type: NSManagedObject.Type?, _ name: String) {
        state.withLock { $0.registered[bare(name)] = type }
    }

    private static func bare(_ name: String) -> String { name.hasPrefix(".") ? String(name.dropFirst()) : name }

    private static func find(_ name: String) -> NSManagedObject.Type? {
        if let found = anyClass(named: name) as? NSManagedObject.Type { return found }
        let parts = name.split(separator: ".").map(String.init)
        guard let last = parts.last else { return nil }
        let records = RecordedClass.named(last).filter { !$0.isLocal }
        let classes = records.compactMap { record in
            record.type.map { (type: $0, record: record, rank: rank(record, parts)) }
        }
        let best = classes.map(\.rank).max()
        let first = classes.filter { $0.rank == best }
        switch first.count {
        case 1: return first[0].type
        case 0:
            if let generic = records.first(where: { $0.isGeneric && $0.isManaged }) {
                warnOnce(name, isGeneric(generic, name))
            }
        default: warnOnce(name, isOneOf(first.map(\.record), name))
        }
        return nil
    }

    /// How well a class matches the parts of a name, of which the last is the class's own.
    private static func rank(_ record: RecordedClass, _ parts: [String]) -> Int {
        let full = [record.module] + record.path
        return (full.suffix(parts.count) == parts[...] ? 8 : 0) + (parts.count > 1 && record.module == parts[0] ? 4 : 0)
            + (record.path.count == 1 ? 2 : 0) + (record.module == mainModule ? 1 : 0)
    }

    private static func warnOnce(_ name: String, _ sentence: String) {
        if state.withLock({ $0.warned.insert(name).inserted }) { warn(sentence) }
    }

    private static func isOneOf(_ records: [RecordedClass], _ name: String) -> String {
        let names = records.map(\.name).sorted()
        return
            "The class \(name) of a model can be \(names.joined(separator: " or ")): none is taken, and its objects are plain "
            + "NSManagedObjects until the program names one. Set the entity's managedObjectClassName to the whole name before the model "
            + "is used, or call NSManagedObjectModel.setClass(\(names[0]).self, forClassName: \"\(name)\")."
    }

    private static func isGeneric(_ record: RecordedClass, _ name: String) -> String {
        "The class \(name) of a model can only be \(record.name), which is generic and is not found by its name: objects are plain "
            + "NSManagedObjects until the program names it. Call "
            + "NSManagedObjectModel.setClass(\(record.name)<…>.self, forClassName: \"\(name)\") before the model is used."
    }
}

extension NSManagedObjectModel {
    /// Sets the class for a class name in all models of the process that are not in use yet. Ours.
    ///
    /// For classes that are not found: one of several of a name, a generic class with arguments, one inside a function.
    /// - Parameters:
    ///   - type: The class; nil removes an earlier one.
    ///   - name: The name as models have it, with or without a leading dot.
    public static func setClass(_ type: NSManagedObject.Type?, forClassName name: String) {
        ClassSearch.register(type, name)
    }
}
