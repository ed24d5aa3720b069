// What a statement says whose function could not read the file of a value.

import CoreDataValues

extension StoreError {
    /// Whether a statement failed because a function of it could not read a file: its engine's words are those of `ExternalFolder.read`,
    /// which name the file.
    var isOfMissingFile: Bool { engine.map { $0.message.contains("which holds a value of the store at") } ?? false }
}
