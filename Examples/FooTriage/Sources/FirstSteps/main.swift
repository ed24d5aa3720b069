import CoreData

let model = try NSManagedObjectModel(loading: URL(fileURLWithPath: "Models/FooTriage.xcdatamodeld"))
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
let file = URL(fileURLWithPath: "FirstSteps.sqlite")
try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator
context.undoManager = UndoManager()

let injury = NSEntityDescription.insertNewObject(forEntityName: "Injury", into: context)
injury.setValue(1, forKey: "id")
injury.setValue("Burn of \(UUID())", forKey: "name")
context.undo()
print("after undo:", context.insertedObjects.count)
context.redo()
try context.save()
