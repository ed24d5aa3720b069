import CoreData

nonisolated final class Hospital: NSManagedObject {}
