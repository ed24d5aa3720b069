// Names of a model as Swift can write them.

/// Quotes names that Swift keeps for itself, and those that are no plain identifiers.
enum SwiftName {
    /// The name as it is declared and used.
    static func quoted(_ name: String) -> String { isPlain(name) && !keywords.contains(name) ? name : "`\(name)`" }

    /// Whether Swift can declare a property of that name: between backticks nearly everything may stand.
    static func canBeProperty(_ name: String) -> Bool {
        if isPlain(name) { return true }
        let forbidden: Set<Character> = ["`", "\\", "\n", "\r", "\0"]
        return !name.contains(where: forbidden.contains) && !name.allSatisfy(\.isWhitespace)
            && name.contains { $0.isLetter || $0.isNumber }
    }

    /// Whether Swift can declare and name a class so: generated code puts no backticks around types.
    static func canBeClass(_ name: String) -> Bool {
        isPlain(name) && !keywords.contains(name) && !typePrefixes.contains(name)
    }

    /// Whether each name in a type, such as `Zoo.Triage`, is one that Swift does not keep for itself.
    static func canBeEnumeration(_ type: String) -> Bool {
        // With arguments the words between are looked at alone.
        let isNamed =
            type.contains("<")
            || type.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
                part.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } && part.first?.isNumber == false
            }
        return isNamed && words(of: type).allSatisfy { !keywords.contains($0) && !typePrefixes.contains($0) }
    }

    /// The same, but with the words that types have in them, as in `[String: Any]`.
    static func canBeType(_ type: String) -> Bool {
        words(of: type).allSatisfy { !keywords.contains($0) || typeWords.contains($0) }
    }

    private static func words(of type: String) -> [String] {
        type.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
    }

    /// Whether a name is an identifier without backticks.
    static func isPlain(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first else { return false }
        let isWord = { (scalar: Unicode.Scalar) in scalar == "_" || scalar.properties.isXIDContinue }
        return (first == "_" || first.properties.isXIDStart) && name.unicodeScalars.allSatisfy(isWord) && name != "_"
    }

    /// `items` as it stands in `addToItems`.
    static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    private static let typeWords: Set<String> = ["Any", "Protocol", "Self", "Type"]

    /// Names elsewhere, but before a type words of the language.
    private static let typePrefixes: Set<String> = ["any", "each", "some"]

    private static let keywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class", "continue",
        "default", "defer",
        "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard",
        "if", "import",
        "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol",
        "public",
        "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws",
        "true", "try",
        "typealias", "var", "where", "while",
    ]
}

/// The types that generated code uses, spelled so that no class of the model hides them.
struct TypeNames {
    private let taken: Set<String>

    /// - Parameter taken: the names of the model's classes and properties.
    init(taken: Set<String>) { self.taken = taken }

    subscript(name: String) -> String {
        guard taken.contains(name) else { return name }
        if Self.standard.contains(name) { return "Swift.\(name)" }
        if name == "NSManagedObject" || name == "NSFetchRequest" || name == "NSManagedObjectID" {
            return "CoreData.\(name)"
        }
        return "Foundation.\(name)"
    }

    private static let standard: Set<String> = [
        "Any", "Bool", "Double", "Float", "Int", "Int16", "Int32", "Int64", "Set", "String", "Identifiable", "Sequence",
    ]
}
