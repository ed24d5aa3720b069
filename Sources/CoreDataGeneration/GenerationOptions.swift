// What is made of a model, as the file beside it says.

import CoreDataModelFile
import Foundation

/// How classes are made. Read from `.coredata.json` beside the model; without such a file, as Xcode does.
package struct GenerationOptions: Sendable, Equatable {
    package enum Style: String, Sendable, CaseIterable {
        /// The names and types that Xcode generates: `String?`, `NSSet?`.
        case xcode
        /// Required attributes without `?`, `Set<Injury>`, `[Visit]`, enumerations.
        case swift
    }
    package enum Scope: String, Sendable, CaseIterable {
        /// What the model says of each entity: Class Definition, Category/Extension, or Manual/None.
        case chosen
        /// A class for each entity that names one.
        case all
    }
    package enum Access: String, Sendable, CaseIterable {
        /// As Xcode has it; hand-written classes that generated ones name must be public too.
        case `public`
        /// For the classes' own module only.
        case `internal`
    }
    package var style = Style.xcode
    package var scope = Scope.chosen
    package var access = Access.public

    package init(style: Style = .xcode, scope: Scope = .chosen, access: Access = .public) {
        self.style = style
        self.scope = scope
        self.access = access
    }

    /// The name of the file, hidden so that a package need not declare it.
    package static let fileName = ".coredata.json"

    /// The options for a model.
    ///
    /// - Throws: `ModelFileError` with the file's path for one that says something else.
    package init(besideModel url: URL) throws(ModelFileError) {
        self.init()
        let file = url.deletingLastPathComponent().appendingPathComponent(Self.fileName)
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        guard let data = try? Data(contentsOf: file),
            let entries = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
        else {
            throw Self.error("the file is no JSON object. Write { \"style\": \"swift\" }", file)
        }
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
            switch key {
            case "style": style = try Self.choice(value, key, file)
            case "classes": scope = try Self.choice(value, key, file)
            case "access": access = try Self.choice(value, key, file)
            default: throw Self.error("“\(key)” is unknown. There are “style”, “classes” and “access”", file)
            }
        }
    }

    private static func choice<T: RawRepresentable & CaseIterable>(_ value: Any, _ key: String, _ file: URL)
        throws(ModelFileError) -> T
    where T.RawValue == String {
        if let choice = (value as? String).flatMap(T.init) { return choice }
        let known = T.allCases.map { "“\($0.rawValue)”" }.joined(separator: " or ")
        throw error("“\(key)” is \(known)", file)
    }

    private static func error(_ message: String, _ file: URL) -> ModelFileError {
        ModelFileError(message, path: file.path, line: 1, column: 1)
    }
}
