// Finding the class of a policy by its name.

import Foundation

/// Looks for policies as for the classes of entities: by Foundation, in the main program's module, then by the type records of all images.
enum PolicySearch {
    /// - Throws: 134170 where there is none or no single one.
    static func type(named name: String?, for mapping: String) throws -> NSEntityMigrationPolicy.Type {
        guard let name, !name.isEmpty, name != "NSEntityMigrationPolicy" else { return NSEntityMigrationPolicy.self }
        if let found = ClassSearch.anyClass(named: name) as? NSEntityMigrationPolicy.Type { return found }
        let parts = name.split(separator: ".").map(String.init)
        let all = RecordedClass.allNamed(parts.last ?? name).compactMap { $0 as? NSEntityMigrationPolicy.Type }
        let exact = all.filter { type in
            RecordedClass(type).map { ([$0.module] + $0.path).suffix(parts.count) == parts[...] } ?? false
        }
        let found = exact.isEmpty ? all : exact
        if found.count == 1 { return found[0] }
        let why =
            found.isEmpty
            ? "is not found" : "can be \(found.map { String(reflecting: $0) }.sorted().joined(separator: " or "))"
        throw CocoaError.coreData(
            134170,
            "The mapping \(mapping) asks for the policy \(name), which \(why). Link a subclass of NSEntityMigrationPolicy of this name into the "
                + "program, at top level and not generic. Nothing was written.")
    }
}
