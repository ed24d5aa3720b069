// Every version of a model against the next and the current one.

import CoreData
import CoreDataModelTools
import Foundation

/// Makes a store of each version, and migrates copies of it.
struct MigrationMatrix: Encodable {
    struct Pair: Encodable {
        enum Outcome: String, Encodable { case migrated, refused }
        let from: String
        let to: String
        let outcome: Outcome
        /// Of the store that was migrated.
        let rows: Int
        /// The code and the words of a refusal.
        var code: Int?
        var rule: String?
        /// Whether the file has other bytes than before, although the migration was refused.
        var isTouched = false
        let before: String
        let after: String
    }
    struct Unreadable: Encodable {
        let version: String
        let why: String
        /// Whether the version itself is at fault, not the file for its store.
        var isBroken = false
    }
    let versions: [String]
    let current: String
    private(set) var unreadable: [Unreadable] = []
    private(set) var pairs: [Pair] = []

    private let folder: URL
    private let model: URL
    private let package: URL

    private enum CodingKeys: CodingKey { case versions, current, unreadable, pairs }

    /// - Parameter folder: an empty one, where the stores are kept.
    init(of package: URL, in folder: URL) throws {
        (self.folder, self.package) = (folder, package)
        versions = try ModelVersions.names(at: package)
        current = try ModelVersions.current(at: package)
        // Nothing lies beside it there, so that no mapping model is found: what the models alone tell is what is tried.
        model = folder.appendingPathComponent(package.lastPathComponent)
        try FileManager.default.createSymbolicLink(
            at: model, withDestinationURL: package.absoluteURL.resolvingSymlinksInPath())
    }

    /// - Parameter progress: called before each version.
    mutating func run(progress: (_ version: String) -> Void) throws {
        for (place, version) in versions.enumerated() {
            progress(version)
            guard let (store, rows) = sample(of: version) else { continue }
            let next = place + 1 < versions.count ? versions[place + 1] : nil
            for target in Set([next, current].compactMap { $0 }).sorted() where target != version {
                guard let later = loaded(target) else { continue }
                pairs.append(try migrate(store, rows, version, to: target, later))
            }
        }
    }

    private mutating func loaded(_ version: String) -> NSManagedObjectModel? {
        let kind = ["momd": "mom", "xcdatamodeld": "xcdatamodel"][model.pathExtension]
        // A version may be given alone.
        let place = kind.map { model.appendingPathComponent("\(version).\($0)") } ?? model
        do { return try NSManagedObjectModel(loading: place) } catch {
            if !unreadable.contains(where: { $0.version == version }) {
                let why = Self.words(error).replacing(model.path, with: package.path)
                unreadable.append(Unreadable(version: version, why: why, isBroken: true))
            }
            return nil
        }
    }

    private mutating func sample(of version: String) -> (store: URL, rows: Int)? {
        guard let first = loaded(version) else { return nil }
        guard !first.entities.isEmpty else {
            unreadable.append(Unreadable(version: version, why: "it declares no entity"))
            return nil
        }
        let place = folder.appendingPathComponent(version)
        let store = place.appendingPathComponent("Store.sqlite")
        do {
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            return (store, try SampleStore.make(of: first, at: store))
        } catch {
            unreadable.append(Unreadable(version: version, why: Self.words(error)))
            return nil
        }
    }

    private func migrate(_ store: URL, _ rows: Int, _ from: String, to: String, _ later: NSManagedObjectModel) throws
        -> Pair
    {
        let place = folder.appendingPathComponent("\(from) → \(to)")
        try FileManager.default.copyItem(at: store.deletingLastPathComponent(), to: place)
        let copy = place.appendingPathComponent("Store.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: later)
        do {
            let opened = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: copy,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                ])
            try coordinator.remove(opened)
            return Pair(from: from, to: to, outcome: .migrated, rows: rows, before: store.path, after: copy.path)
        } catch {
            let isTouched = !FileManager.default.contentsEqual(atPath: store.path, andPath: copy.path)
            return Pair(
                from: from, to: to, outcome: .refused, rows: rows, code: (error as NSError).code,
                rule: Self.words(error), isTouched: isTouched,
                before: store.path, after: copy.path)
        }
    }

    private static func words(_ error: any Error) -> String {
        let several = (error as NSError).userInfo[NSDetailedErrorsKey] as? [any Error] ?? []
        return ([error] + several.prefix(3)).map { ($0 as NSError).localizedDescription }.joined(separator: " ")
    }
}

extension MigrationMatrix: CustomStringConvertible {
    /// The table, and below it the rules of the refusals.
    var description: String {
        let width = versions.map(\.count).max() ?? 0
        func padded(_ text: String) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }
        var lines: [String] = []
        for pair in pairs {
            let words =
                pair.outcome == .migrated
                ? "migrated, objects: \(pair.rows)"
                : "refused\(pair.isTouched ? ", and the file was changed" : ""): \(pair.rule ?? "")"
            lines.append("\(padded(pair.from)) → \(padded(pair.to))  \(words)")
        }
        return (lines + unreadable.map { "\(padded($0.version))   has no store: \($0.why)" }).joined(separator: "\n")
    }
}
