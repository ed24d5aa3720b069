// Mapping models of other programs, read and carried out.

import CoreDataSeeds
import CoreDataTestSupport
import Testing

@testable import CoreData
@testable import CoreDataModelFile

/// The programs' own policies are left out: the default one stands in. Sources are rows made of the models.
@Suite(.enabled(if: Corpus.isPresent)) struct CorpusMappingTests {
    private let versions = Versions()
    private static let each = 3

    @Test("Every mapping model of the corpus is read; most fit the versions that they name")
    func read() throws {
        let files = try Corpus.files(below: "models") { $0.hasSuffix(".xcmappingmodel/xcmapping.xml") }.map {
            $0.deletingLastPathComponent()
        }
        #expect(files.count >= 56)
        var (fitting, others, expressions, generated, removed) = (0, [String](), 0, 0, 0)
        for url in files {
            let model = try NSMappingModel(loading: url)
            #expect(!model.entityMappings.isEmpty)
            for mapping in model.entityMappings {
                #expect(mapping.mappingType != .undefinedEntityMappingType)
                if mapping.sourceEntityName != nil {
                    #expect(mapping.sourceEntityVersionHash != nil, "\(url.path) \(mapping.name ?? "")")
                }
                for property in (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? []) {
                    guard let text = property.valueExpression?.description else { continue }
                    if text == "$source.\(property.name ?? "")" { generated += 1 } else { expressions += 1 }
                }
            }
            let document = try MappingDocument(url.appendingPathComponent("xcmapping.xml"))
            let paths = document.records(of: "XDDEVMAPPINGMODEL").first
            // Those that were taken out in Xcode are still in the file.
            let listed = paths?.links["entitymappings"]?.count ?? 0
            #expect(model.entityMappings.count == listed && model.entityMappingsByName.count == listed, "\(url.path)")
            removed += document.records(of: "XDDEVENTITYMAPPING").count - listed
            if let from = version(paths?.name("sourcemodelpath"), of: url),
                let to = version(paths?.name("destinationmodelpath"), of: url),
                (try? model.fit(from.schema(), to.schema())) != nil
            {
                fitting += 1
            } else {
                others.append(url.lastPathComponent)
            }
        }
        print(
            "mapping models: \(files.count) read, \(expressions) expressions and \(generated) copies, \(fitting) fit the versions in the corpus"
        )
        print("do not: \(others)")
        #expect(fitting >= 30)
        #expect(expressions > 74)
        #expect(removed > 20)
    }

    /// The version that a mapping model names by the last two parts of its path, in the same project.
    private func version(_ path: String?, of mapping: URL) -> NSManagedObjectModel? {
        guard let path else { return nil }
        let parts = path.split(separator: "/").suffix(2)
        let models = Corpus.root.appendingPathComponent("models")
        var folder = mapping.deletingLastPathComponent()
        while folder.path.count > models.path.count {
            let found = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path))?.first {
                $0.split(separator: "/").suffix(parts.count) == parts
            }
            if let found { return try? NSManagedObjectModel(loading: folder.appendingPathComponent(found)) }
            folder.deleteLastPathComponent()
        }
        return nil
    }

    @Test("Mapping models of the corpus make as many objects as their lists of mappings say")
    func carriedOut() throws {
        var (carriedOut, checked, others) = (0, 0, [String]())
        for file in try Corpus.files(below: "models", { $0.hasSuffix(".xcmappingmodel/xcmapping.xml") }) {
            let url = file.deletingLastPathComponent()
            let mapping = try NSMappingModel(loading: url)
            let paths = try MappingDocument(file).records(of: "XDDEVMAPPINGMODEL").first
            guard let source = version(paths?.name("sourcemodelpath"), of: url),
                let destination = version(paths?.name("destinationmodelpath"), of: url),
                (try? mapping.fit(source.schema(), destination.schema())) != nil
            else { continue }
            do {
                checked += try carryOut(mapping, source, destination)
                carriedOut += 1
            } catch { others.append("\(url.lastPathComponent): \(error)") }
        }
        print("mapping models: \(carriedOut) carried out, \(checked) entities counted")
        others.forEach { print("not carried out: \($0.prefix(300))") }
        #expect(carriedOut >= 20 && checked >= 50)
    }

    /// - Returns: how many entities were counted.
    private func carryOut(
        _ mapping: NSMappingModel, _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel
    ) throws -> Int {
        for mapping in mapping.entityMappings { mapping.entityMigrationPolicyClassName = nil }
        // Classes of these names may be other programs'.
        for entity in source.entities + destination.entities { entity.managedObjectClassName = "NSManagedObject" }
        let (former, later) = (versions.file("\(UUID()).sqlite"), versions.file("\(UUID()).sqlite"))
        try versions.with(source, at: former) { try Self.fill($0) }
        try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
            from: former, type: .sqlite, mapping: mapping, to: later, type: .sqlite)
        var counted = 0
        for entity in destination.entities where !entity.isAbstract {
            let makers = mapping.entityMappings.filter {
                $0.destinationEntityName == entity.name && $0.mappingType != .addEntityMappingType
            }
            // Filters take some of the rows.
            guard makers.allSatisfy({ $0.sourceExpression?.description.contains("TRUEPREDICATE") == true }) else {
                continue
            }
            let rows = makers.filter { source.entitiesByName[$0.sourceEntityName ?? ""]?.isAbstract == false }.count
            let name = entity.name ?? ""
            let made = try versions.with(destination, at: later) { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                request.includesSubentities = false
                return try context.count(for: request)
            }
            #expect(made == rows * Self.each, "\(name), made by \(makers.map { $0.name ?? "" })")
            counted += 1
        }
        return counted
    }

    private static func fill(_ context: NSManagedObjectContext) throws {
        let entities = context.persistentStoreCoordinator?.managedObjectModel.entities ?? []
        for entity in entities where !entity.isAbstract {
            for number in 0..<each {
                let object = NSManagedObject(entity: entity, insertInto: context)
                for (name, attribute) in entity.attributesByName where !attribute.isTransient {
                    if let value = value(of: attribute, number) { object.setValue(value, forKey: name) }
                }
            }
        }
        let all = Array(context.insertedObjects)
        for (offset, object) in all.enumerated() {
            for (name, relationship) in object.entity.relationshipsByName
            where !relationship.isToMany && object.value(forKey: name) == nil {
                guard let target = relationship.destinationEntity else { continue }
                let fitting = all.filter { $0.entity.isKindOf(entity: target) }
                if !fitting.isEmpty { object.setValue(fitting[offset % fitting.count], forKey: name) }
            }
        }
        try context.save()
    }

    private static func value(of attribute: NSAttributeDescription, _ number: Int) -> Any? {
        switch attribute.attributeType {
        case .stringAttributeType: "\(attribute.name)\(number)"
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: number + 1
        case .doubleAttributeType, .floatAttributeType: Double(number) + 0.5
        case .decimalAttributeType: NSDecimalNumber(value: number)
        case .booleanAttributeType: number == 1
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(number) * 1000)
        case .binaryDataAttributeType: Data([UInt8(number), 2])
        case .UUIDAttributeType: UUID()
        case .URIAttributeType: URL(string: "http://localhost/\(number)")
        case .transformableAttributeType: attribute.isOptional ? nil : "\(number)" as NSString
        default: nil
        }
    }
}
