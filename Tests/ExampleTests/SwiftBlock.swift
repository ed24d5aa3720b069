// The Swift blocks of a page, and the files that a reader would make of them.

import CoreDataTestSupport
import Foundation

/// A fenced block of Swift in a page of the documentation, and the place where a reader would put it.
///
/// Statements stand in a function, unless a comment right before the fence says otherwise:
///
///     <!-- swift: declarations -->            beside other declarations of a file
///     <!-- swift: program -->                 a file main.swift of its own
///     <!-- swift: given code: Int, … -->      statements that need what the text before has
///     <!-- file: Sources/… -->                a file of a package, which `Scripts/service` builds and runs
struct SwiftBlock {
    enum Place: Equatable {
        case program
        case declarations
        /// In functions with these parameters: once of the main actor, once of nobody.
        case statements(given: String)
        /// Not compiled here.
        case package
    }
    let page: String
    /// The line of the first line of code, counted from 1.
    let line: Int
    let place: Place
    let code: String

    /// The blocks of a page, in order. A fence or a comment that is not understood is a block that does not compile.
    static func all(of page: String, _ text: String) -> [SwiftBlock] {
        let lines = text.components(separatedBy: "\n")
        var blocks: [SwiftBlock] = []
        var start: Int?
        for (index, line) in lines.enumerated() {
            if let first = start, line.hasPrefix("```") {
                let code = lines[first..<index].joined(separator: "\n")
                let place = place(said: first > 1 ? lines[first - 2] : "")
                blocks.append(SwiftBlock(page: page, line: first + 1, place: place, code: code))
                start = nil
            } else if start == nil, line.hasPrefix("```swift") {
                start = index + 1
            }
        }
        return blocks
    }

    private static func place(said comment: String) -> Place {
        if comment.wholeMatch(of: /<!-- file: [^ ]+ -->/) != nil { return .package }
        guard let said = comment.wholeMatch(of: /<!-- swift: (program|declarations|given (.+)) -->/) else {
            return .statements(given: "")
        }
        switch said.output.1 {
        case "program": return .program
        case "declarations": return .declarations
        default: return .statements(given: said.output.2.map(String.init) ?? "")
        }
    }

    /// The file that has the block. What the compiler says of it names the page and its line.
    func file(number: Int) -> String {
        let here = """
            #sourceLocation(file: "\(page)", line: \(line))
            \(code)
            #sourceLocation()
            """
        switch place {
        case .program, .package: return here
        case .declarations: return "import CoreData\nimport Foundation\n\(here)\n"
        case .statements(let given):
            func function(_ name: String, _ actor: String) -> String {
                "\(actor)\nenum \(name)\(number) {\nstatic func run(\(given)) async throws {\n\(here)\n}\n}\n"
            }
            return "import CoreData\nimport Foundation\n" + function("OfMain", "@MainActor") + function("OfNobody", "")
        }
    }
}

/// Checks blocks against the built modules.
struct BlockChecker {
    private let folder = Folder()

    /// What the compiler says of the blocks of one page, which are one module; nothing if they compile without a warning.
    func complaints(_ blocks: [SwiftBlock]) throws -> String {
        let programs = blocks.filter { $0.place == .program }
        let others = blocks.filter { $0.place != .program && $0.place != .package }
        let said = try programs.map { try compile([$0]) } + (others.isEmpty ? [] : [compile(others)])
        return said.joined()
    }

    private func compile(_ blocks: [SwiftBlock]) throws -> String {
        let isProgram = blocks.contains { $0.place == .program }
        let files = try blocks.enumerated().map { number, block in
            let file = folder.file(isProgram ? "main.swift" : "Block\(number).swift")
            try block.file(number: number).write(to: file, atomically: true, encoding: .utf8)
            return file.path
        }
        let run = try folder.output(
            of: [
                "swiftc", "-emit-sil", "-wmo", "-o", "/dev/null", "-swift-version", "6", "-warnings-as-errors",
                "-module-name", "Page",
            ]
                + (isProgram ? [] : ["-parse-as-library"]) + modules() + files)
        return run.status == 0 ? "" : run.errors + "\n"
    }

    /// Where the modules of this build are, C modules by their maps.
    private func modules() throws -> [String] {
        let build = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let products = [build, Place.root.appendingPathComponent(".build/debug")]
            .first {
                FileManager.default.fileExists(atPath: $0.appendingPathComponent("Modules/CoreData.swiftmodule").path)
            }
        guard let products else { throw CocoaError(.fileNoSuchFile) }
        let built = try FileManager.default.contentsOfDirectory(at: products, includingPropertiesForKeys: nil)
        let ours = built.filter { $0.lastPathComponent.hasPrefix("C") && $0.pathExtension == "build" }
        let systems = ["Sources/CCoreDataSQLite", "Sources/CCoreDataXML"].map { Place.root.appendingPathComponent($0) }
        let headers = try folder.output(of: ["pkg-config", "--cflags", "sqlite3", "libxml-2.0"]).output
        var flags = ["-I", products.appendingPathComponent("Modules").path]
        // Not the build's own cache: its modules bear the path by which it calls the folder.
        flags += ["-module-cache-path", products.appendingPathComponent("DocumentationModules").path]
        for map in (ours + systems).map({ $0.appendingPathComponent("module.modulemap").path })
        where FileManager.default.fileExists(atPath: map) { flags += ["-Xcc", "-fmodule-map-file=\(map)"] }
        for flag in headers.split(whereSeparator: { $0.isWhitespace }) { flags += ["-Xcc", String(flag)] }
        return flags
    }
}
