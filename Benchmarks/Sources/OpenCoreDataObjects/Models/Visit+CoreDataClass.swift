import CoreData

nonisolated final class Visit: NSManagedObject {}
