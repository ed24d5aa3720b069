import CoreData

nonisolated final class Burn: NSManagedObject {}
