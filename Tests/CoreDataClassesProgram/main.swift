// A program that says which classes it finds for the names it is given: `CoreDataClassesProgram NAME …`; or, for the name `--merged`, which
// entities the models beside it have.

import CoreData
import CoreDataClassesNorth
import CoreDataClassesSouth

/// Both libraries have one too.
final class Pilot: NSManagedObject {}
enum Bridge {
    final class Captain: NSManagedObject {}
}

let names = CommandLine.arguments.dropFirst()
if names.first == "--merged" {
    print(
        NSManagedObjectModel.mergedModel(from: nil)?.entities.compactMap(\.name).sorted().joined(separator: " ")
            ?? "none")
    exit(0)
}
for name in names {
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
