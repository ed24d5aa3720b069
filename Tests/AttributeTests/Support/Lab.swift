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

    static func draft() -> SchemaDraft {
        var draft = SchemaDraft()
        draft.composites = [
            Composite(
                name: "Place",
                attributes: [
                    Clinic.attribute("latitude", .double, default: .double(1.5)),
                    Clinic.attribute("longitude", .double), Clinic.composite("area", "Area"),
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
            Clinic.attribute("name", .string), Clinic.composite("location", "Place"),
            Clinic.composite("origin", "Place"),
            Clinic.attribute("label", .string), Clinic.transformable("words"), Clinic.transformable("tags", "LabTags"),
            Clinic.transformable("reversed", "LabBackwards"), Clinic.transformable("markers", "LabMarkers"),
            Clinic.transformable("unknown", "LabNobody"),
            Clinic.attribute("speed", .integer32, default: .int(7), transient: true),
            Clinic.attribute("note", .string, transient: true),
            Clinic.attribute("anything", .undefined, transient: true),
            Clinic.attribute("other", .objectID, transient: true),
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
        var probe = EntityDraft("Probe", [Clinic.attribute("name", .string), Clinic.attribute("rank", .integer32)])
        var showers = Clinic.toMany("showers", "Site", inverse: "shown")
        showers.isTransient = true
        probe.relationships = [Clinic.toOne("site", "Site", inverse: "probes"), showers]
        let special = EntityDraft("SpecialSite", [Clinic.composite("second", "Area")], parent: "Site")
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

func sentence(_ error: (any Error)?) -> String {
    (error as? CocoaError)?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(String(describing: error))"
}
