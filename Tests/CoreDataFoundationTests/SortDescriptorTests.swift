import CoreDataValues
import Foundation
import Testing

@testable import CoreDataFoundation

@Suite struct SortDescriptorTests {
    private let rows: [[String: Any]] = [["n": "b"], ["n": "A"], [:], ["n": "a"], ["n": "É"]]

    private func names(_ descriptor: NSSortDescriptor) -> [String] {
        rows.sorted { descriptor.compare($0, to: $1) == .orderedAscending }.map { $0["n"] as? String ?? "-" }
    }

    @Test("A key sorts nil first and texts by scalar; reversed, all the other way")
    func keys() throws {
        let descriptor = NSSortDescriptor(key: "n", ascending: true)
        #expect(names(descriptor) == ["-", "A", "a", "b", "É"])
        let reversed = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
        #expect(names(reversed) == ["É", "b", "a", "A", "-"])
        #expect(descriptor.key == "n" && reversed.key == "n" && !reversed.ascending)
    }

    @Test("A case-insensitive order keeps the order of equal texts")
    func caseless() {
        #expect(
            names(NSSortDescriptor(key: "n", ascending: true, selector: "caseInsensitiveCompare:")) == [
                "-", "A", "a", "b", "É",
            ])
    }

    @Test("Key paths of optional and of boolean values make descriptors")
    func keyPaths() {
        struct Row { var name: String?; var flag: Bool }
        let byName = NSSortDescriptor(keyPath: \Row.name, ascending: true)
        let byFlag = NSSortDescriptor(keyPath: \Row.flag, ascending: false)
        let (a, b) = (Row(name: nil, flag: true), Row(name: "x", flag: false))
        #expect(byName.compare(a, to: b) == .orderedAscending)
        #expect(byFlag.compare(a, to: b) == .orderedAscending)
    }

    @Test("A descriptor becomes a term, or says why it cannot")
    func terms() throws {
        let term = try NSSortDescriptor(key: "a.b", ascending: false, comparison: .localizedStandardCompare).term()
        #expect(term == SortTerm(keyPath: ["a", "b"], isAscending: false, comparison: .localizedStandard))
        #expect(throws: (any Error).self) {
            try NSSortDescriptor(key: "a", ascending: true, comparator: { _, _ in .orderedSame }).term()
        }
        let path = NSSortDescriptor(keyPath: \String.count, ascending: true)
        #expect(throws: (any Error).self) { try path.term() }
        #expect(try path.term(keys: { _ in ["count"] }).keyPath == ["count"])
    }
}
