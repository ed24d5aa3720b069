// Names of tables and columns: Core Data's spelling and its collision suffixes.

/// Names already given in one namespace. The second owner of a name gets `1` behind it, the third `2`.
struct Namespace {
    private var taken: Set<String> = []

    init(_ reserved: [String] = []) { taken = Set(reserved) }

    mutating func reserve(_ name: String) -> String {
        var candidate = name
        var suffix = 0
        while !taken.insert(candidate).inserted {
            suffix += 1
            candidate = name + String(suffix)
        }
        return candidate
    }
}
