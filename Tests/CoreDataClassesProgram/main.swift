// A program that says which classes it finds for the names it is given: `CoreDataClassesProgram NAME …`.

import CoreData
import CoreDataClassesNorth
import CoreDataClassesSouth

/// Both libraries have one too.
final class Pilot: NSManagedObject {}
enum Bridge {
    final class Captain: NSManagedObject {}
}

for name in CommandLine.arguments.dropFirst() {
    let entity = NSEntityDescription()
    entity.name = "Thing"
    entity.managedObjectClassName = name
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let container = NSPersistentContainer(name: "Things", managedObjectModel: model)
    let context = container.newBackgroundContext()
    context.performAndWait {
        let object = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        print("\(name) \(object.entity.managedObjectClassName ?? "") \(type(of: object))")
    }
}
