// What no store answers, in the same words for all of them.

/// Words of refusals.
struct QueryRefusal {
    let entity: Entity
    /// What is refused, at the start of a sentence.
    var subject: String

    init(entity: Entity) {
        self.entity = entity
        subject = "The predicate on \(entity.name)"
    }

    func predicate(_ what: String, property: String? = nil) -> StoreError {
        StoreError(
            134060,
            "\(subject) uses \(what), which no store supports. Fetch without it and filter in memory.",
            entity: entity.name, property: property)
    }

    /// Something that means nothing.
    func nonsense(_ what: String, property: String? = nil) -> StoreError {
        StoreError(134060, "\(subject) uses \(what).", entity: entity.name, property: property)
    }

    func unknown(_ path: [String], _ key: String, of owner: Entity, _ why: String) -> StoreError {
        StoreError(
            134060,
            "keypath \(path.joined(separator: ".")) not found in entity \(entity.name): it names “\(key)”, \(why).",
            entity: owner.name, property: key)
    }

    func sort(_ path: [String], _ why: String) -> StoreError {
        StoreError(
            134060, "A fetch of \(entity.name) cannot be sorted by “\(path.joined(separator: "."))”: \(why).",
            entity: entity.name, property: path.first)
    }

    func tooMuch(_ what: String) -> StoreError {
        StoreError(134060, "\(subject) has \(what).", entity: entity.name)
    }
}
