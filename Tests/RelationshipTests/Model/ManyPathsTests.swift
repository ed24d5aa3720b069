// Models in which very many paths lead from one entity to another.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite("Models with many paths") struct ManyPathsTests {
    @Test(
        "Sixty entities with to-ones to the next two, and one back to the first, are ready at once",
        .timeLimit(.minutes(30)))
    func chain() throws {
        var draft = SchemaDraft()
        for number in 0..<60 {
            var entity = EntityDraft(name: "E\(number)")
            for step in 1...2 where number + step < 60 {
                entity.relationships.append(
                    Clinic.toOne("next\(step)", "E\(number + step)", inverse: "from\(step)"))
            }
            for step in 1...2 where number >= step {
                entity.relationships.append(Clinic.toMany("from\(step)", "E\(number - step)", inverse: "next\(step)"))
            }
            draft.entities.append(entity)
        }
        draft.entities[59].relationships.append(Clinic.toOne("first", "E0", inverse: "last"))
        draft.entities[0].relationships.append(Clinic.toMany("last", "E59", inverse: "first"))
        let context = try Stack(NSInMemoryStoreType, model: NSManagedObjectModel(draft: draft)).context
        let (first, last) = (context.make("E0"), context.make("E59"))
        last.setValue(first, forKey: "first")
        try context.save()
        #expect(first.value(forKey: "last") as? Set<NSManagedObject> == [last])
    }
}
