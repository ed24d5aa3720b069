import CoreData

nonisolated final class Injury: NSManagedObject {}
