// Derived attributes as users meet them, on every store.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Derived attributes") struct DerivedAttributeTests {
    private static func required(_ draft: inout SchemaDraft) {
        for index in draft.entities[0].attributes.indices where draft.entities[0].attributes[index].name == "bookCount"
        {
            draft.entities[0].attributes[index].isOptional = false
        }
    }

    @Test(
        "4.11 A derived attribute that must have a value and has no default refuses an insertion with 1570 until a placeholder is set",
        arguments: Library.stores)
    func placeholder(_ type: String) throws {
        let stack = try Stack(type, model: Library.model(Self.required))
        let author = stack.context.make("Author", ["name": "Eve"])
        let error = #expect(throws: CocoaError.self) { try stack.context.save() }
        #expect(error?.code.rawValue == 1570)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "bookCount")
        author.setValue(77, forKey: "bookCount")
        try stack.context.save()
        #expect(author.anew("bookCount") as? Int == 0)
    }

    @Test(
        "4.11 A derived value is computed when its object is saved, and the object shows it once it is refreshed",
        arguments: Library.stores)
    func refreshed(_ type: String) throws {
        let stack = try Stack(type, model: Library.model())
        let author = stack.context.make("Author", ["name": "Eve"])
        try stack.context.save()
        #expect(author.anew("bookCount") as? Int == 0)
        let book = stack.context.make("Book", ["author": author])
        #expect(author.value(forKey: "bookCount") as? Int == 0, "not before the save")
        try stack.context.save()
        #expect(author.value(forKey: "bookCount") as? Int == 0, "not before it is refreshed")
        #expect(book.value(forKey: "authorName") == nil)
        stack.context.refresh(author, mergeChanges: true)
        #expect(author.value(forKey: "bookCount") as? Int == 1)
        #expect(book.anew("authorName") as? String == "Eve")
    }

    @Test("A fault that was fetched before a save shows what the save derived", arguments: Library.stores)
    func fault(_ type: String) throws {
        let stack = try Stack(type, model: Library.model())
        _ = stack.context.make("Author", ["name": "Eve"])
        try stack.context.save()
        stack.context.reset()
        let author = try #require(try stack.context.all("Author").first)
        #expect(author.isFault)
        let other = stack.another()
        let rival = try #require(try other.all("Author").first)
        let mine = stack.context.make("Tag", ["weight": 2.5])
        _ = mine
        let tag = other.make("Tag", ["weight": 2.5])
        tag.setValue(Set([rival]), forKey: "authors")
        try other.save()
        #expect(rival.anew("tagSum") as? Double == 2.5)
        stack.context.refresh(author, mergeChanges: false)
        #expect(author.value(forKey: "tagCount") as? Int == 1)

        let again = try Stack(type, model: Library.model())
        let country = again.context.make("Country", ["code": "DE"])
        let writer = again.context.make("Author", ["country": country])
        let book = again.context.make("Book", ["author": writer])
        try again.context.save()
        again.context.refresh(book, mergeChanges: false)
        let sleeping = try #require(try again.context.all("Book").first)
        #expect(sleeping === book && book.isFault)
        country.setValue("FR", forKey: "code")
        try again.context.save()
        #expect(book.value(forKey: "code") as? String == "FR")
    }

    @Test("What is assigned to a derived attribute of a saved object is not written", arguments: Library.stores)
    func assigned(_ type: String) throws {
        let stack = try Stack(type, model: Library.model())
        let author = stack.context.make("Author", ["name": "Eve"])
        _ = stack.context.make("Book", ["author": author])
        try stack.context.save()
        author.setValue(99, forKey: "bookCount")
        try stack.context.save()
        #expect(!author.hasChanges && author.changedValues().isEmpty)
        #expect(author.anew("bookCount") as? Int == 1)
        author.setValue(99, forKey: "bookCount")
        author.setValue("Ann", forKey: "name")
        try stack.context.save()
        #expect(author.anew("bookCount") as? Int == 1)
        #expect(author.value(forKey: "loud") as? String == "ANN")
    }

    @Test("now() is the time of the save, at insertion and at every change", arguments: Library.stores)
    func time(_ type: String) throws {
        let stack = try Stack(type, model: Library.model())
        let start = Date()
        let author = stack.context.make("Author", ["name": "Eve"])
        let bystander = stack.context.make("Author", ["name": "Ann"])
        try stack.context.save()
        let first = try #require(author.anew("changed") as? Date)
        let other = try #require(bystander.anew("changed") as? Date)
        #expect(first >= start.addingTimeInterval(-0.001) && first <= Date().addingTimeInterval(0.001))
        author.setValue("Eva", forKey: "name")
        try stack.context.save()
        let second = try #require(author.anew("changed") as? Date)
        #expect(second > first)
        #expect(bystander.anew("changed") as? Date == other)
    }

    @Test(
        "Texts are derived as predicates fold them",
        arguments: Library.stores, ["Ärger", "straße", "İstanbul", "", "ΑΣ", "e\u{301}"])
    func texts(_ type: String, _ name: String) throws {
        let stack = try Stack(type, model: Library.model())
        let author = stack.context.make("Author", ["name": "former"])
        try stack.context.save()
        author.setValue(name, forKey: "name")
        try stack.context.save()
        let folded = TextComparison.fold(name, options: [.caseInsensitive, .diacriticInsensitive])
        #expect(author.anew("key") as? String == folded)
        #expect(author.value(forKey: "loud") as? String == name.uppercased())
        #expect(author.value(forKey: "quiet") as? String == name.lowercased())
        let request = NSFetchRequest<NSManagedObject>("Author", "key == %@", folded)
        #expect(try stack.context.fetch(request).count == 1)
        author.setValue(nil, forKey: "name")
        try stack.context.save()
        #expect(author.anew("key") == nil)
    }

    @Test(
        "A derived text can be unique: 133021 names the constraint, and nothing is written",
        arguments: Library.storesWithConstraints)
    func unique(_ type: String) throws {
        let model = Library.model { $0.entities[0].uniquenessConstraints = [["key"]] }
        let stack = try Stack(type, model: model)
        let first = stack.context.make("Author", ["name": "Ärger"])
        try stack.context.save()
        let second = stack.context.make("Author", ["name": "ARGER"])
        _ = stack.context.make("Author", ["name": "free"])
        let error = #expect(throws: CocoaError.self) { try stack.context.save() }
        #expect(error?.code.rawValue == 133021 && error.sentence.contains("key"), "\(error.sentence)")
        #expect(try stack.another().all("Author").count == 1)
        second.setValue("Ast", forKey: "name")
        try stack.context.save()
        first.setValue("ast", forKey: "name")
        #expect(throws: CocoaError.self) { try stack.context.save() }
        stack.context.delete(second)
        try stack.context.save()
        #expect(first.anew("key") as? String == "ast")
        #expect(try stack.another().all("Author").count == 2)
    }

    @Test("A refused save derives nothing", arguments: Library.storesWithConstraints)
    func refused(_ type: String) throws {
        let stack = try Stack(
            type,
            model: Library.model { draft in
                draft.entities[3].uniquenessConstraints = [["weight"]]
            })
        let author = stack.context.make("Author", ["name": "Eve"])
        _ = stack.context.make("Tag", ["weight": 1.0])
        try stack.context.save()
        _ = stack.context.make("Book", ["author": author, "pages": 5])
        _ = stack.context.make("Tag", ["weight": 1.0])
        #expect(throws: CocoaError.self) { try stack.context.save() }
        let seen = try #require(try stack.another().all("Author").first)
        #expect(seen.value(forKey: "bookCount") as? Int == 0)
        #expect(seen.value(forKey: "pageSum") as? Int == 0)
    }

    @Test(
        "A derivation that cannot be computed is refused when the store is added, with the attribute and the forms that can",
        arguments: Library.stores,
        [
            ("books.@avg.pages", "Use now()"), ("books.@sum.title", "no number"), ("books.@sum.authorName", "derived"),
            ("canonical:(country.code)", "not a path"), ("1 + 1", "Use now()"), ("now()", "Date"),
            ("random()", "Use now()"),
            ("country.@count", "Use now()"), ("name", "no Integer 64"),
        ])
    func unsupported(_ type: String, _ broken: (expression: String, why: String)) throws {
        let error = #expect(throws: CocoaError.self) {
            _ = try Stack(
                type,
                model: Library.model { draft in
                    draft.entities[0].attributes.append(Library.derived("odd", .integer64, broken.expression))
                })
        }
        #expect(error?.code.rawValue == 134060)
        #expect(error.sentence.contains("Author.odd") && error.sentence.contains(broken.why), "\(error.sentence)")
    }

    @Test("A trigger of somebody else's can call the functions of triggers, and no other of ours")
    func trust() throws {
        let stack = try Stack(model: Library.model())
        let raw = try SQLiteFile(stack.folder.file("store.sqlite"))
        try raw.run(
            "CREATE TRIGGER GOOD AFTER INSERT ON ZNOTE BEGIN UPDATE ZNOTE SET ZTEXT = CAST(NSCoreDataNow() > 1 AS TEXT); END"
        )
        let note = stack.context.make("Note")
        try stack.context.save()
        stack.context.stalenessInterval = 0
        #expect(note.anew("text") as? String == "1")
        try raw.run(
            "CREATE TRIGGER BAD AFTER INSERT ON ZNOTE BEGIN UPDATE ZNOTE SET ZTEXT = CoreDataCanonical('A'); END")
        _ = stack.context.make("Note")
        let error = #expect(throws: CocoaError.self) { try stack.context.save() }
        #expect(error.sentence.contains("unsafe use of CoreDataCanonical"), "\(error.sentence)")
        #expect(try raw.rows("SELECT ZTEXT FROM ZNOTE") == ["1"])
    }

    @Test("A derivation is an expression in code and a text in the model file")
    func description() throws {
        let derived = NSDerivedAttributeDescription()
        derived.name = "key"
        derived.attributeType = .stringAttributeType
        derived.derivationExpression = NSExpression(format: "canonical:(name)")
        #expect(derived.derivationExpression == NSExpression(format: "canonical:(name)"))
        for text in ["now()", "books.@count", "books.@sum.pages", "author.name"] {
            derived.derivationText = text
            let expression = try #require(derived.derivationExpression)
            #expect(expression == NSExpression(format: text))
            derived.derivationExpression = expression
            #expect(derived.derivationExpression == expression)
        }
        derived.derivationExpression = NSExpression(forKeyPath: "books.@count")
        #expect(derived.derivationText == "books.@count")
    }
}
