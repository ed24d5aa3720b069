// The models, whose classes `swift package generate-model-classes` has written beside them.

import CoreData
import Yardstick

enum Models {
    /// The model of a name among the resources. It is frozen by its first coordinator, so that one is enough for a process.
    static func load(_ name: String) throws -> NSManagedObjectModel {
        guard let url = Bundle.module.url(forResource: name, withExtension: "xcdatamodeld") else {
            throw Failure("no model \(name) among the resources")
        }
        return try NSManagedObjectModel(loading: url)
    }
}
