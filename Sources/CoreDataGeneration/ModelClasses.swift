// The door of this module: a checked model in, Swift sources out.

import CoreDataModelFile
import CoreDataValues
import Foundation

/// The Swift classes of a model.
package struct ModelClasses {
    /// One source file.
    package struct Source: Sendable, Equatable {
        package let name: String
        package let text: String
        /// Whether it is the user's once it is written: a class, whose accessors stand in another file.
        package let isOwned: Bool
    }
    private let schema: Schema
    private let options: GenerationOptions
    private let model: String
    private let plans: [ClassPlan]
    private let planner: ClassPlanner
    private let types: TypeNames

    /// - Parameters:
    ///   - model: the model's name, which names what is neither an entity's nor a class's.
    /// - Throws: `SchemaError` at the declaration of what no Swift class can have.
    package init(_ schema: Schema, model: String, options: GenerationOptions) throws(SchemaError) {
        self.schema = schema
        self.options = options
        self.model = model
        planner = ClassPlanner(schema: schema, options: options)
        plans = try planner.plans()
        var taken = Set<String>()
        for entity in schema.entities { taken.insert(planner.type(of: entity)) }
        taken.remove("NSManagedObject")
        for plan in plans {
            taken.formUnion(plan.attributes.map(\.name))
            taken.formUnion(plan.relationships.map(\.name))
            taken.formUnion(plan.fetchedProperties.map(\.name))
        }
        types = TypeNames(taken: taken)
    }

    /// Reads the model at a URL, and the options beside it.
    ///
    /// - Throws: `ModelFileError` or `SchemaError`, whose descriptions are what compilers say.
    package init(at url: URL) throws {
        try self.init(
            ModelFile.load(url), model: url.deletingPathExtension().lastPathComponent,
            options: GenerationOptions(besideModel: url))
    }

    /// Everything in one file.
    package var source: String {
        let parts = plans.map { plan in
            (plan.kind == .definition ? definition(plan) + "\n" : "") + accessors(plan)
        }
        return ([head(of: "its classes", "\(access)import CoreData"), register] + parts).joined(separator: "\n")
    }

    /// A file for each class, one for the accessors of each, and one for all.
    package var sources: [Source] {
        var sources: [Source] = []
        for plan in plans {
            if plan.kind == .definition {
                sources.append(
                    Source(
                        name: "\(plan.name)+CoreDataClass.swift",
                        text: definitionImport(plan) + "\n\n" + definition(plan),
                        isOwned: true))
            }
            sources.append(
                Source(
                    name: "\(plan.name)+CoreDataProperties.swift",
                    text: head(of: plan.name, imports(plan)) + "\n" + accessors(plan), isOwned: false))
        }
        guard !plans.isEmpty else { return [] }
        return sources + [
            Source(
                name: "\(model)+CoreDataClasses.swift",
                text: head(of: "its classes", "\(access)import CoreData") + "\n" + register, isOwned: false)
        ]
    }

    // MARK: Parts

    /// What stands before declarations.
    private var access: String { options.access == .public ? "public " : "" }

    /// Whether a hand-written class is public is not known, and a public import that nothing public uses would be warned of.
    private func imports(_ plan: ClassPlan) -> String {
        plan.kind == .definition ? "\(access)import CoreData" : "import CoreData"
    }

    /// A class below another generated one names nothing of Core Data itself.
    private func definitionImport(_ plan: ClassPlan) -> String {
        plan.superclass == "NSManagedObject" ? imports(plan) : "import CoreData"
    }

    private func head(of subject: String, _ imports: String) -> String {
        """
        \(origin)\(subject)\(Self.notice)

        \(imports)

        """
    }

    private var origin: String { "\(Self.mark)\(model): " }
    // By these two, files that were made once are known. If they are worded anew, the old words must be known as well.
    private static let mark = "// Made from the model "
    private static let notice = ". Made again when the model changes; do not edit."

    /// Whether a source says in its first line that it was made of a model, whatever its name was, and not to be edited.
    static func isMade(_ text: String) -> Bool {
        text.hasPrefix(mark) && text.prefix { !$0.isNewline }.hasSuffix(notice)
    }

    /// The same of this model.
    func hasMade(_ text: String) -> Bool { text.hasPrefix(origin) && Self.isMade(text) }

    private func definition(_ plan: ClassPlan) -> String {
        "nonisolated \(access)class \(plan.name): \(plan.superclass) {}\n"
    }

    private func accessors(_ plan: ClassPlan) -> String {
        let request = types["NSFetchRequest"]
        var text = """
            nonisolated extension \(plan.name) {
                @nonobjc \(access)class func fetchRequest() -> \(request)<\(plan.name)> {
                    \(request)<\(plan.name)>(entityName: \(AttributeText.literal(plan.entity.name)))
                }

            """
        for accessors in properties(plan) {
            text += "\n" + accessors.lines(access).map { "    \($0)\n" }.joined()
        }
        text += "}\n"
        let relations = relationshipText
        for relationship in plan.relationships where relationship.isToMany {
            let methods = relations.methods(of: relationship).map { "    \($0)\n" }.joined()
            text +=
                "\n// MARK: Generated accessors for \(relationship.name)\nnonisolated extension \(plan.name) {\n\(methods)}\n"
        }
        if plan.isIdentifiable { text += "\nnonisolated extension \(plan.name): \(types["Identifiable"]) {}\n" }
        return text
    }

    private var relationshipText: RelationshipText {
        RelationshipText(style: options.style, access: access, types: types, type: planner.type, schema: schema)
    }

    private func properties(_ plan: ClassPlan) -> [Accessors] {
        let attributes = AttributeText(plan: plan, style: options.style, types: types)
        let relations = relationshipText
        return plan.attributes.map(attributes.accessors) + plan.relationships.map(relations.accessors)
            + plan.fetchedProperties.map { relations.accessors(of: $0) }
    }

    /// What Core Data finds at run time: the classes, and the slots that their accessors take for granted.
    private var register: String {
        let indent = String(repeating: " ", count: 16)
        let classes = plans.map { plan in
            let keys = plan.keys.map { "\n\(indent)        \(AttributeText.literal($0))," }.joined()
            let list = keys.isEmpty ? "[]" : "[\(keys)\n\(indent)    ]"
            return "\n\(indent)_GeneratedClass(\(plan.name).self, named: \(AttributeText.literal(plan.modelName))) {\n"
                + "\(indent)    \(list)\n\(indent)},"
        }
        return """
            nonisolated \(access)enum _\(identifier)Classes {
                nonisolated \(access)final class _CoreDataGenerated: _GeneratedClasses {
                    override \(access)class var classes: [_GeneratedClass] {
                        [\(classes.joined())
                        ]
                    }
                }
            }

            """
    }

    private var identifier: String { String(model.map { $0.isLetter || $0.isNumber ? $0 : "_" }) }
}
