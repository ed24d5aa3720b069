// The model of these tests: transient, composite, transformable and fetched properties.

import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreData

/// A plain value that a transformable attribute keeps as JSON.
struct Tag: Codable, Hashable {
    var name: String
    var weight: Double
}

/// A class of this program that codes itself.
final class Marker: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let number: Int
    init(_ number: Int) { self.number = number }
    init?(coder: NSCoder) { number = coder.decodeInteger(forKey: "number") }
    func encode(with coder: NSCoder) { coder.encode(number, forKey: "number") }
    override func isEqual(_ object: Any?) -> Bool { (object as? Marker)?.number == number }
    override var hash: Int { number }
}

/// A program's own transformer: a text as its bytes backwards. It refuses "refused" and bytes that are no text.
final class Backwards: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override func transformedValue(_ value: Any?) -> Any? {
        guard let text = value as? String, text != "refused" else { return nil }
        return Data(text.utf8.reversed())
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).flatMap { String(data: Data($0.reversed()), encoding: .utf8) }
    }
}

final class MarkerTransformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] { super.allowedTopLevelClasses + [Marker.self] }
}

enum Lab {
    static let types = StoreMaker.types

    static let registered: Void = {
        ValueTransformer.setValueTransformer(CodableTransformer<[Tag]>(), forName: NSValueTransformerName("LabTags"))
        ValueTransformer.setValueTransformer(Backwards(), forName: NSValueTransformerName("LabBackwards"))
        ValueTransformer.setValueTransformer(MarkerTransformer(), forName: NSValueTransformerName("LabMarkers"))
    }()

    private static func transformable(_ name: String, _ transformer: String? = nil) -> Attribute {
        var attribute = Clinic.attribute(name, .transformable)
        attribute.valueTransformerName = transformer
        return attribute
    }

    static func transient(_ name: String, _ type: CoreDataValues.AttributeType, default value: Value = .null)
        -> Attribute
    {
        var attribute = Clinic.attribute(name, type)
        attribute.isTransient = true
        attribute.defaultValue = value
        return attribute
    }

    static func composite(_ name: String, _ type: String, optional: Bool = true) -> Attribute {
        var attribute = Clinic.attribute(name, .composite, optional: optional)
        attribute.compositeName = type
        return attribute
    }

    static func draft() -> SchemaDraft {
        var draft = SchemaDraft()
        var latitude = Clinic.attribute("latitude", .double)
        latitude.defaultValue = .double(1.5)
        draft.composites = [
            Composite(
                name: "Place",
                attributes: [
                    latitude, Clinic.attribute("longitude", .double), composite("area", "Area"),
                    Clinic.attribute("label", .string),
                ]),
            Composite(
                name: "Area",
                attributes: [
                    Clinic.attribute("country", .string), Clinic.attribute("code", .integer16, optional: false),
                ]),
        ]
        var site = EntityDraft(name: "Site")
        site.attributes = [
            Clinic.attribute("name", .string), composite("location", "Place"), composite("origin", "Place"),
            Clinic.attribute("label", .string), transformable("words"), transformable("tags", "LabTags"),
            transformable("reversed", "LabBackwards"), transformable("markers", "LabMarkers"),
            transformable("unknown", "LabNobody"), transient("speed", .integer32, default: .int(7)),
            transient("note", .string), transient("anything", .undefined), transient("other", .objectID),
        ]
        var shown = Clinic.toOne("shown", "Probe", inverse: "showers")
        shown.isTransient = true
        site.relationships = [Clinic.toMany("probes", "Probe", inverse: "site"), shown]
        site.fetchedProperties = [
            fetched("namesakes", "Probe", "name == $FETCH_SOURCE.name"),
            fetched("mine", "Probe", "site == $FETCH_SOURCE"),
            fetched("marked", "Probe", "name == $FETCHED_PROPERTY.userInfo.wanted"),
            fetched("broken", "Probe", "nothing == 1"),
        ]
        site.fetchedProperties[2].userInfo = ["wanted": "m"]
        var probe = EntityDraft(name: "Probe")
        probe.attributes = [Clinic.attribute("name", .string), Clinic.attribute("rank", .integer32)]
        var showers = Clinic.toMany("showers", "Site", inverse: "shown")
        showers.isTransient = true
        probe.relationships = [Clinic.toOne("site", "Site", inverse: "probes"), showers]
        var special = EntityDraft(name: "SpecialSite")
        special.parentName = "Site"
        special.attributes = [composite("second", "Area")]
        draft.entities = [site, probe, special]
        return draft
    }

    static func fetched(_ name: String, _ entity: String, _ predicate: String) -> FetchedProperty {
        var template = FetchTemplate(name: "fetchedPropertyFetchRequest", entityName: entity)
        template.predicate = predicate
        return FetchedProperty(name: name, request: template)
    }

    static func model() -> NSManagedObjectModel {
        _ = registered
        return NSManagedObjectModel(draft: draft())
    }

    static func stack(_ type: String = NSSQLiteStoreType, undo: Bool = true) throws -> Stack {
        try Stack(type, model: model(), undo: undo)
    }

    static func request(_ entity: String, _ format: String, sort: [String] = []) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        if !format.isEmpty { request.predicate = NSPredicate(format: format) }
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
        return request
    }
}

extension NSManagedObject {
    func text(_ key: String) -> String? { value(forKey: key) as? String }
    func int(_ key: String) -> Int? { value(forKey: key) as? Int }
}

func sentence(_ error: (any Error)?) -> String {
    (error as? CocoaError)?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(String(describing: error))"
}
