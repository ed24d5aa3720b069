// Property lists read within limits: what honest ones say, and what others are refused for.

import CoreDataSeeds
import Foundation
import Testing

@testable import CoreDataValues

@Suite("Property lists")
struct PropertyListTests {
    private func read(_ bytes: [UInt8], _ limits: ArchiveLimits? = nil) throws -> PropertyList {
        try PropertyList(Data(bytes), limits ?? .document(bytes: bytes.count))
    }

    private func sentence(_ bytes: [UInt8], _ limits: ArchiveLimits? = nil) -> String {
        do {
            _ = try read(bytes, limits)
            return "nothing was thrown"
        } catch { return (error as? ArchiveError)?.sentence ?? "\(error)" }
    }

    private func made(_ build: (inout ListBytes) -> Int) -> [UInt8] {
        var list = ListBytes()
        let top = build(&list)
        return list.bytes(top: top)
    }

    // MARK: Honest lists

    private func random(_ random: inout SplitMix, _ depth: Int) -> Any {
        switch random.below(depth == 0 ? 8 : 10) {
        case 0: return random.below(2) == 0
        case 1: return NSNumber(value: Int64(bitPattern: random.next() >> UInt64(random.below(64))))
        case 2: return NSNumber(value: Double(random.below(2_000_001) - 1_000_000) / 64)
        case 3: return NSNumber(value: UInt64.max - UInt64(random.below(9)))
        case 4: return Date(timeIntervalSinceReferenceDate: Double(random.below(2_000_000_000) - 3_000_000_000))
        case 5: return Data((0..<random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        case 6: return String(repeating: ["a", "é", "<&>", "😀", " \n"][random.below(5)], count: random.below(20))
        case 7: return -random.below(70_000)
        case 8: return (0..<random.below(20)).map { _ in self.random(&random, depth - 1) }
        default:
            return Dictionary(
                (0..<random.below(20)).map { ("k\($0)\(random.below(9))", self.random(&random, depth - 1)) },
                uniquingKeysWith: { a, _ in a })
        }
    }

    @Test("What Foundation writes, in both formats, is read as Foundation reads it", arguments: 0..<60)
    func agreement(_ seed: Int) throws {
        var generator = SplitMix(UInt64(seed))
        let root = ["root": random(&generator, 4)]
        for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
            let data = try PropertyListSerialization.data(fromPropertyList: root, format: format, options: 0)
            let theirs = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
            let ours = try PropertyList.dictionary(data, .metadata(bytes: data.count))
            #expect(NSDictionary(dictionary: ours) == NSDictionary(dictionary: try #require(theirs)))
            #expect(NSDictionary(dictionary: ours) == NSDictionary(dictionary: root))
        }
    }

    @Test("What XML allows is read: comments, space, sections, entities, signs, attributes, a list without its frame")
    func variants() throws {
        let head = """
            \u{feff}<?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <!-- before -->
            """
        let text = """
            <plist version="1.0"><!-- in --><dict>
            <key>a&amp;b</key><string>&lt;<![CDATA[<x>&amp;]]>&#65;&#x42;</string> <key>n</key><integer> -12 </integer>
            <key>h</key><integer>0xFf</integer><key>m</key><integer>-9223372036854775808</integer>
            <key>big</key><integer>18446744073709551615</integer><key>r</key><real>-1.5e3</real><key>inf</key><real>+infinity</real>
            <key>d</key><data>
              AQ
              I=
            </data><key>t</key><true/><key>f</key><false></false><key>e</key><array/><key>o</key><dict></dict><key/><string/>
            <key>when</key><date>2001-01-02T00:00:01Z</date><key>old</key><date>1582-10-15T12:00:00Z</date>
            </dict></plist> <!-- after -->
            """
        for text in [
            head + text, text, text.replacing("<plist version=\"1.0\">", with: "").replacing("</plist>", with: ""),
        ] {
            let top = try read(Array(text.utf8)).top
            #expect(top["a&b"]?.text == "<<x>&amp;AB" && top["n"]?.integer == -12 && top["h"]?.integer == 255)
            #expect(top["m"]?.integer == Int64.min && top["big"]?.value as? NSNumber == NSNumber(value: UInt64.max))
            #expect(top["r"]?.real == -1500 && top["inf"]?.real == Double.infinity && top["d"]?.data == Data([1, 2]))
            #expect(
                top["t"]?.bool == true && top["f"]?.bool == false && top["e"]?.array?.count == 0 && top[""]?.text == "")
            #expect(
                top["when"]?.real == 86401 && top["old"]?.real == -13_197_556_800 && top["o"]?.entries?.keys.count == 0)
        }
    }

    @Test(
        "XML that declares entities, ends early or means nothing is refused",
        arguments: [
            "<!DOCTYPE plist [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]><plist><string>&b;</string></plist>",
            "<!DOCTYPE plist SYSTEM \"file:///etc/passwd\" [<!ENTITY % x SYSTEM \"file:///etc/passwd\">]><plist><string/></plist>",
            "<plist><string>&unknown;</string></plist>", "<plist><string>&#x110000;</string></plist>", "<plist>",
            "<plist/>", "<",
            "<plist></plist>", "<plist><dict><key>a</key></dict></plist>",
            "<plist><dict><string>a</string></dict></plist>",
            "<plist><array></dict></plist>", "<plist><string>a</string><string>b</string></plist>",
            "<plist><key>a</key></plist>",
            "<plist><dict><key>a</key><key>b</key></dict></plist>",
            "<plist><integer>9999999999999999999999</integer></plist>",
            "<plist><integer>--1</integer></plist>", "<plist><integer>0x</integer></plist>",
            "<plist><real>x</real></plist>",
            "<plist><date>2001-13-01T00:00:00Z</date></plist>",
            "<plist><date>99999999999999999999-01-01T00:00:00Z</date></plist>",
            "<plist><string><b/></string></plist>", "<plist><string>a</string></plist>b",
            "<plist><string a=\"></string></plist>",
            "<plist><array></plist>", "</array>", "<plist><unknown>1</unknown></plist>", "no list", "", "<!--", "<?xml",
            "<!DOCTYPE",
            "<plist><array><string>a</array></plist>", "<plist><data>A</data></plist>",
        ])
    func brokenXML(_ text: String) {
        #expect(throws: ArchiveError.self) { try read(Array(text.utf8)) }
    }

    // MARK: Limits

    @Test("A few hundred bytes that stand for 2^40 things are refused at once, and the sentence names the limit")
    func shared() throws {
        let bytes = made { $0.shared(40) }
        #expect(bytes.count < 1_000)
        #expect(sentence(bytes).contains("more than 200000 things"))
        // Dictionaries share as well.
        let dictionaries = made { list in
            var last = list.text("ha")
            for _ in 0..<40 { last = list.dictionary([("a", last), ("b", last)]) }
            return last
        }
        #expect(sentence(dictionaries).contains("more than 200000 things"))
        // Up to the limit what is shared is read.
        let small = try read(made { $0.shared(16) })
        #expect((small.top.value as? [Any])?.count == 2)
    }

    @Test("Lists are read up to 512 levels deep, in both formats, and 100,000 levels are refused")
    func depth() throws {
        for (depth, isRead) in [(512, true), (513, false), (100_000, false)] {
            let binary = made { $0.nested(depth) }
            let text =
                "<plist>" + String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
                + "</plist>"
            for bytes in [binary, Array(text.utf8)] {
                if isRead {
                    #expect(try read(bytes).top.value != nil)
                } else {
                    #expect(sentence(bytes).contains("512 levels"))
                }
            }
        }
        // The deepest way counts, also where a part was measured before.
        let two = made { list in
            let long = list.nested(400)
            var last = list.array([long])
            for _ in 0..<200 { last = list.array([last]) }
            return list.array([long, last])
        }
        #expect(sentence(two).contains("512 levels"))
    }

    @Test("What holds itself is refused")
    func cycles() {
        #expect(sentence(made { $0.add(ListBytes.array([0])) }).contains("inside itself"))
        let long = made { list in
            for next in 1..<500 { list.add(ListBytes.array([next])) }
            return list.add(ListBytes.array([0]))
        }
        #expect(sentence(long).contains("inside itself") || sentence(long).contains("512 levels"))
    }

    @Test("No byte belongs to two objects")
    func overlap() {
        // 10,000 objects that are all one array of 10,000.
        var list = ListBytes()
        let parts = Array(repeating: 0, count: 10_000)
        for _ in 0..<10_000 { list.add([]) }
        list.add(ListBytes.array(parts))
        #expect(sentence(list.bytes(top: 9_999)).contains("overlap"))
    }

    @Test("Data longer than the limit is not looked at")
    func length() {
        let bytes = [UInt8](repeating: 0, count: ArchiveLimits.metadataBytes + 1)
        #expect(sentence(bytes, .metadata(bytes: bytes.count)).contains("\(ArchiveLimits.metadataBytes)"))
    }

    @Test("Objects may number as many as the limit says")
    func count() throws {
        let bytes = made { list in list.array((0..<100).map { list.integer(UInt64($0)) }) }
        #expect(throws: Never.self) { try read(bytes, ArchiveLimits(nodes: 101, expanded: 200)) }
        #expect(sentence(bytes, ArchiveLimits(nodes: 100, expanded: 200)).contains("more than the 100 "))
    }

    // MARK: Any bytes

    private var sound: [[UInt8]] {
        get throws {
            let values: [String: Any] = [
                "text": "abc", "wide": "déjà 😀", "numbers": [1, 300, 70_000, -5, 1.5], "flag": true,
                "data": Data([1, 2, 3]),
                "date": Date(timeIntervalSinceReferenceDate: 12), "inner": ["a": ["b": ["c"]]], "long": Array(0..<40),
            ]
            var archive = ArchiveBytes()
            let text = archive.text("x")
            let inner = archive.object("NSArray", [text, text])
            let root = archive.object("NSSet", [inner, text])
            return [
                [UInt8](try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)),
                [UInt8](try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)),
                archive.bytes(root: root),
            ]
        }
    }

    /// Whatever is answered, it ends, and what was read can be walked.
    private func look(at bytes: [UInt8]) {
        let data = Data(bytes)
        if let list = try? PropertyList(data, .document(bytes: data.count)) {
            _ = list.top.value
            _ = list.top["$objects"]?.array?.map { $0["$class"]?.reference }
        }
        guard let archive = try? ArchivedObjects(data) else { return }
        for place in 0..<archive.count {
            _ = try? archive.className(place)
            _ = archive.classNames(place)
        }
        if let root = archive.top("root") { _ = try? archive.check(from: root, .objects) }
    }

    @Test("Cut short anywhere, no list traps")
    func cuts() throws {
        for bytes in try sound {
            for end in bytes.indices { look(at: Array(bytes[..<end])) }
        }
    }

    @Test(
        "Thousands of lists with bytes changed, moved, doubled or left out: none traps or goes on without end",
        arguments: 0..<40)
    func mutations(_ seed: Int) throws {
        var random = SplitMix(UInt64(seed) &* 7919)
        for bytes in try sound {
            for _ in 0..<100 {
                var changed = bytes
                for _ in 0...random.below(4) { mutate(&changed, &random) }
                look(at: changed)
            }
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SplitMix) {
        guard bytes.count > 40 else { return }
        // The last bytes say where everything is.
        let place = random.below(3) == 0 ? bytes.count - 1 - random.below(40) : random.below(bytes.count)
        switch random.below(6) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes[place] ^= 1 << UInt8(random.below(8))
        case 2: bytes[place] = [0, 0xff, 0x7f, 0x80, 0xaf, 0xdf, 0x13][random.below(7)]
        case 3: bytes.remove(at: place)
        case 4: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
        default:
            let from = random.below(bytes.count - 8)
            let to = random.below(bytes.count - 8)
            bytes.replaceSubrange(to..<to + 8, with: Array(bytes[from..<from + 8]))
        }
    }
}
