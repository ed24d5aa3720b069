// Where the store and the model are.

import Foundation

/// A store and the two files that SQLite keeps beside it.
struct StoreFile {
    private let url: URL
    init(_ url: URL) { self.url = url }

    /// Removes what is there of the three files.
    ///
    /// - Throws: for a folder too, which would go with everything in it.
    func remove() throws {
        for path in ["", "-wal", "-shm"].map({ url.path + $0 }) {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { continue }
            guard !isFolder.boolValue else { throw Failure("\(path) is a folder, not a store: it was left as it is.") }
            do { try FileManager.default.removeItem(atPath: path) } catch {
                throw Failure("\(path) could not be removed: \(error.localizedDescription)")
            }
        }
    }
}

enum ModelFile {
    /// The project's sample model, looked for in the folders above the program, so that the project may be moved and the
    /// program be called from anywhere.
    static func find() throws -> URL {
        let program = Bundle.main.executableURL?.resolvingSymlinksInPath() ?? URL(fileURLWithPath: "/")
        var folder = program.deletingLastPathComponent()
        while folder.path != "/" {
            let model = folder.appendingPathComponent("Models/FooTriage.xcdatamodeld")
            if FileManager.default.fileExists(atPath: model.path) { return model }
            folder.deleteLastPathComponent()
        }
        throw Failure(
            "no Models/FooTriage.xcdatamodeld in a folder above \(program.path): name the model with --model.")
    }
}
