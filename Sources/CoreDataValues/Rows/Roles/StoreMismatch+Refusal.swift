// Why a store is refused, in words.

extension StoreMismatch {
    /// How many differences are told.
    static var limit: Int { 20 }

    package func refusal(at path: String) -> StoreError { StoreError(self, at: path) }

    /// By the version that wrote the store and what differs from it, else by the names of entities. Reads model files.
    func sentence(at path: String) -> String {
        "The model does not fit the store at \(path). \(cause()) Open the store with the model that wrote it, or migrate it."
    }

    private func cause() -> String {
        guard let versions = schema.versions else { return names() }
        guard let writer = writer() else { return "No version of \(versions.name) does. " + names() }
        let sentences = diff(from: writer).hashedSentences(where: concerns)
        let writing = "The store was written with version “\(writer.name)” of \(versions.name)"
        if sentences.isEmpty { return "\(writing). \(names())" }
        return "\(writing), from which the model differs: " + Self.list(sentences, by: "; ") + "."
    }

    private func names() -> String {
        let lists = [
            ("Entities that differ", changed), ("Only in the model", onlyInModel), ("Only in the store", onlyInStore),
        ]
        return lists.filter { !$0.1.isEmpty }.map { "\($0): \(Self.list($1, by: ", "))." }.joined(separator: " ")
    }

    private static func list(_ all: [String], by separator: String) -> String {
        let more = all.count - limit
        return all.prefix(limit).joined(separator: separator) + (more > 0 ? "\(separator)and \(more) more" : "")
    }
}
