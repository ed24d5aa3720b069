import CoreData

nonisolated final class Casualty: NSManagedObject {}
