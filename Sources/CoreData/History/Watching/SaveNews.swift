// What a save tells those who watch its stores.

/// The stores that have committed a batch and post a remote change, once all of them have what was saved.
struct SaveNews {
    var stores: [NSPersistentStore] = []
    /// Where looks at the files wait until the save has told what it wrote to several stores.
    private var waiting: [WatchedStore] = []

    /// From here on looks wait, where they do not yet.
    mutating func begin(over stores: [NSPersistentStore]) {
        if waiting.isEmpty { waiting = RemoteChanges.beginSpanningSave(over: stores) }
    }

    func tell() {
        for store in stores { store.tellRemoteChange() }
        for place in waiting { place.endSpanningSave() }
    }
}
