import CoreData

nonisolated final class Ward: NSManagedObject {}
