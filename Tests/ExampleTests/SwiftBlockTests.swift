// Every Swift block of the documentation compiles where a reader would put it.

import Foundation
import Testing

@Suite("Swift blocks of the documentation")
struct SwiftBlockTests {
    @Test("Every block of README.md and of each page compiles", arguments: try Place.pages())
    func pages(_ page: String) throws {
        let text = try Place.text(page)
        let blocks = SwiftBlock.all(of: page, text)
        #expect(blocks.count == text.matches(of: /(?m)^```swift/).count)
        let said = try BlockChecker().complaints(blocks)
        #expect(said == "", "\(said)")
    }

    @Test("README, Server and Concurrency have blocks")
    func present() throws {
        for page in ["README.md", "Documentation/Server.md", "Documentation/Concurrency.md"] {
            #expect(!SwiftBlock.all(of: page, try Place.text(page)).isEmpty, "\(page)")
        }
    }

    @Test("A block that does not compile is told of with page and line; one that needs a name does if it is given")
    func broken() throws {
        let page = """
            # A page

            ```swift
            let number = 1
            print(number)
            ```
            Text.

            <!-- swift: declarations -->
            ```swift
            struct Visit { var note = "" }
            ```

            <!-- swift: given code: Int -->
            ```swift
            print(Visit().note, code)
            ```
            ```swift
            print(code)
            ```

            <!-- swift: program -->
            ```swift
            import Foundation
            let text: String = 7
            ```
            """
        let blocks = SwiftBlock.all(of: "Page.md", page)
        #expect(blocks.map(\.line) == [4, 11, 16, 19, 24])
        let said = try BlockChecker().complaints(blocks)
        #expect(said.contains("Page.md:19:7: error:"), "\(said)")
        #expect(said.contains("Page.md:25:20: error:"), "\(said)")
        for line in [4, 5, 11, 16] { #expect(!said.contains("Page.md:\(line):"), "\(said)") }
    }

    @Test("A data race is told of")
    func isolation() throws {
        let page = """
            ```swift
            var count = 0
            Task.detached { count += 1 }
            print(count)
            ```
            """
        let said = try BlockChecker().complaints(SwiftBlock.all(of: "Page.md", page))
        #expect(said.contains("Page.md:3:6: error: sending"), "\(said)")
    }
}
