import CoreData

nonisolated final class Station: NSManagedObject {}
