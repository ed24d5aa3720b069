import CoreData

nonisolated final class Patient: NSManagedObject {}
