// A program's model of notes, with classes as Xcode's templates lay them out and properties as a program writes them here.

import CoreData

public class Folder: NSManagedObject {}

extension Folder {
    public class func fetchRequest() -> NSFetchRequest<Folder> { NSFetchRequest<Folder>(entityName: "Folder") }

    public var title: String {
        get { value(forKey: "title") as? String ?? "" }
        set { setValue(newValue, forKey: "title") }
    }
    public var notes: Set<Note> {
        get { value(forKey: "notes") as? Set<Note> ?? [] }
        set { setValue(newValue, forKey: "notes") }
    }
    public func addToNotes(_ note: Note) { mutableSetValue(forKey: "notes").add(note) }
    public func removeFromNotes(_ note: Note) { mutableSetValue(forKey: "notes").remove(note) }
}

public class Note: NSManagedObject {
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(timeIntervalSinceReferenceDate: 0), forKey: "created")
    }
}

extension Note {
    public class func fetchRequest() -> NSFetchRequest<Note> { NSFetchRequest<Note>(entityName: "Note") }

    public var text: String? {
        get {
            willAccessValue(forKey: "text")
            defer { didAccessValue(forKey: "text") }
            return primitiveValue(forKey: "text") as? String
        }
        set {
            willChangeValue(forKey: "text")
            setPrimitiveValue(newValue, forKey: "text")
            didChangeValue(forKey: "text")
        }
    }
    public var created: Date? { value(forKey: "created") as? Date }
    public var stars: Int32 {
        get { value(forKey: "stars") as? Int32 ?? 0 }
        set { setValue(newValue, forKey: "stars") }
    }
    public var folder: Folder? {
        get { value(forKey: "folder") as? Folder }
        set { setValue(newValue, forKey: "folder") }
    }
    public var tags: Set<Tag> {
        get { value(forKey: "tags") as? Set<Tag> ?? [] }
        set { setValue(newValue, forKey: "tags") }
    }
}

public class Tag: NSManagedObject {}

extension Tag {
    public class func fetchRequest() -> NSFetchRequest<Tag> { NSFetchRequest<Tag>(entityName: "Tag") }

    public var name: String? {
        get { value(forKey: "name") as? String }
        set { setValue(newValue, forKey: "name") }
    }
    public var notes: Set<Note> { value(forKey: "notes") as? Set<Note> ?? [] }
}

public let notebookModel = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522" systemVersion="23B92" \
    minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
        <entity name="Folder" representedClassName="Folder" syncable="YES" codeGenerationType="class">
            <attribute name="title" attributeType="String"/>
            <relationship name="notes" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Note" \
    inverseName="folder" inverseEntity="Note"/>
        </entity>
        <entity name="Note" representedClassName=".Note" syncable="YES" codeGenerationType="category">
            <attribute name="created" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
            <attribute name="stars" optional="YES" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES"/>
            <attribute name="text" optional="YES" attributeType="String"/>
            <relationship name="folder" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Folder" \
    inverseName="notes" inverseEntity="Folder"/>
            <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Tag" \
    inverseName="notes" inverseEntity="Tag"/>
        </entity>
        <entity name="Tag" representedClassName="NotesApp.Tag" syncable="YES">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="notes" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Note" \
    inverseName="tags" inverseEntity="Note"/>
            <uniquenessConstraints>
                <uniquenessConstraint>
                    <constraint value="name"/>
                </uniquenessConstraint>
            </uniquenessConstraints>
        </entity>
    </model>
    """
