// Whether two declarations say the same, wherever they stand.

extension Attribute {
    package var unplaced: Attribute { changed(self) { $0.location = nil } }
}

extension Relationship {
    package var unplaced: Relationship { changed(self) { $0.location = nil } }
}

extension FetchTemplate {
    package var unplaced: FetchTemplate { changed(self) { $0.location = nil } }
}

extension FetchedProperty {
    package var unplaced: FetchedProperty {
        changed(self) {
            $0.location = nil
            $0.request = request.unplaced
        }
    }
}

extension Composite {
    package var unplaced: Composite {
        changed(self) {
            $0.location = nil
            $0.attributes = attributes.map(\.unplaced).sorted { $0.name < $1.name }
        }
    }
}

extension EntityDraft {
    /// Without places in a file, and with the properties in the order of their names.
    package var unplaced: EntityDraft {
        changed(self) {
            $0.location = nil
            $0.constraintLocations = []
            $0.attributes = attributes.map(\.unplaced).sorted { $0.name < $1.name }
            $0.relationships = relationships.map(\.unplaced).sorted { $0.name < $1.name }
            $0.fetchedProperties = fetchedProperties.map(\.unplaced).sorted { $0.name < $1.name }
            $0.indexes = indexes.map { index in changed(index) { $0.location = nil } }.sorted { $0.name < $1.name }
        }
    }
}

private func changed<T>(_ value: T, _ change: (inout T) -> Void) -> T {
    var copy = value
    change(&copy)
    return copy
}
