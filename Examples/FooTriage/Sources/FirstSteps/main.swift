// Inserts an object, undoes that, redoes it and saves.
import CoreData

let model = try NSManagedObjectModel(loading: URL(fileURLWithPath: "Models/FooTriage.xcdatamodeld"))
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
let file = URL(fileURLWithPath: "FirstSteps.sqlite")
try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator
context.undoManager = UndoManager()

let number = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Injury"))
let injury = NSEntityDescription.insertNewObject(forEntityName: "Injury", into: context)
injury.setValue(number, forKey: "id")
injury.setValue("Burn \(number)", forKey: "name")
context.undo()
print("after undo:", context.insertedObjects.count)
context.redo()
print("after redo:", context.insertedObjects.count)
try context.save()
