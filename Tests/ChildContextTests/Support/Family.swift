// What the tests of related contexts share.

import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreData

/// A context and its child, with which suites begin.
class Generations {
    let stack: Stack
    let parent: NSManagedObjectContext
    let child: NSManagedObjectContext

    init(_ stack: Stack) {
        (self.stack, parent) = (stack, stack.context)
        child = parent.child()
    }

    convenience init() throws { self.init(try Stack(undo: false)) }
}

extension NSManagedObjectContext {
    func named(_ name: String, _ entity: String = "Patient") throws -> NSManagedObject? {
        return try fetch(NSFetchRequest<NSManagedObject>(entity, "name == %@", name)).first
    }

    func names(_ entity: String = "Patient") throws -> [String] {
        try all(entity).compactMap { $0.value(forKey: "name") as? String }.sorted()
    }

    /// The object of another context with the same ID.
    func same(_ object: NSManagedObject) -> NSManagedObject { self.object(with: object.objectID) }

    /// Waits until everything that was scheduled before has run.
    func drain() { performAndWait {} }
}

extension NSManagedObject {
    var name: String? { value(forKey: "name") as? String }
    func members(_ key: String) -> Set<NSManagedObject> { value(forKey: key) as? Set<NSManagedObject> ?? [] }
    func toManyIndex(_ key: String) -> Int? { if case .toMany(let index) = place(of: key) { index } else { nil } }
    func notes() -> [String] {
        let visits = (value(forKey: "visits") as? NSOrderedSet)?.array ?? []
        return visits.compactMap { ($0 as? NSManagedObject)?.value(forKey: "note") as? String }
    }
}

/// Collects one kind of notification of one context.
final class Postings: @unchecked Sendable {
    private(set) var infos: [[AnyHashable: Any]] = []
    private(set) var threads: [Thread] = []
    private var observer: (any NSObjectProtocol)?

    init(_ name: Notification.Name, of context: NSManagedObjectContext) {
        let box = Box(self)
        observer = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
            box.postings?.infos.append(note.userInfo ?? [:])
            box.postings?.threads.append(Thread.current)
        }
    }

    deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

    func objects(_ place: Int, _ key: String) -> Set<NSManagedObject> {
        infos[place][key] as? Set<NSManagedObject> ?? []
    }
    func ids(_ place: Int, _ key: String) -> Set<NSManagedObjectID> {
        infos[place][key] as? Set<NSManagedObjectID> ?? []
    }

    private final class Box: @unchecked Sendable {
        weak var postings: Postings?
        init(_ postings: Postings) { self.postings = postings }
    }
}

/// Writes down what `awakeFromInsert` found.
final class Waker: NSManagedObject {
    var codesFound: [Int?] = []
    override func awakeFromInsert() {
        super.awakeFromInsert()
        codesFound.append(value(forKey: "code") as? Int)
        setValue("awake", forKey: "name")
        if managedObjectContext?.parent == nil { setValue(3, forKey: "age") }
    }

    static func model() -> NSManagedObjectModel {
        var draft = Clinic.draft()
        draft.entities[0].className = "ChildContextTests.Waker"
        for index in draft.entities[0].attributes.indices where draft.entities[0].attributes[index].name == "code" {
            draft.entities[0].attributes[index].defaultValue = .int(7)
        }
        return NSManagedObjectModel(draft: draft)
    }
}

/// The clinic with a transient attribute and a binary that may lie outside.
func transientModel() -> NSManagedObjectModel {
    var draft = Clinic.draft()
    draft.entities[0].attributes.append(Clinic.attribute("mood", .integer32, transient: true))
    return NSManagedObjectModel(draft: draft)
}

/// Objects and contexts that should be gone.
final class Remains {
    private struct Weak { weak var object: NSObject? }
    private var objects: [Weak] = []
    func watch(_ object: NSObject) { objects.append(Weak(object: object)) }
    func watch(_ context: NSManagedObjectContext) {
        watch(context as NSObject)
        for object in context.registeredObjects { watch(object as NSObject) }
    }
    /// What is still there, by class.
    var alive: [String] { objects.compactMap { $0.object }.map { "\(type(of: $0))" } }
}
