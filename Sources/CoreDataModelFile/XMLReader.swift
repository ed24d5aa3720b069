// A document read element by element with libxml2, every piece with its place.

import CCoreDataXML
import CoreDataValues

/// Reads one XML document from memory: the root first, then each of its children whole.
///
/// Nothing outside of the bytes is ever read: the network is off, and a document type declaration, which is
/// the door of external and exploding entities, is refused before libxml2 sees it.
final class XMLReader {
    private let path: String
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private let count: Int
    private let reader: xmlTextReaderPtr
    private let failures: FirstFailure
    private var scanner: TagScanner
    private var pending: TagScanner.Tag?
    private var isDone = false
    /// Text between elements, which no model has.
    private(set) var strayText: [SourceLocation] = []

    static let depthLimit: Int32 = 64

    /// - Throws: `SchemaError` for a file that is no XML or declares a document type.
    init(_ contents: [UInt8], path: String) throws(SchemaError) {
        self.path = path
        try Self.refuseOtherEncodings(contents, path: path)
        if contents.isEmpty {
            throw SchemaError("the file is empty; it should hold a model", location: Self.start(of: path))
        }
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, contents.count))
        _ = bytes.initialize(from: contents)
        let text = UnsafeBufferPointer(start: bytes.baseAddress, count: contents.count)
        var ahead = TagScanner(text)
        if let tag = ahead.crowdedTag() {
            bytes.deallocate()
            throw SchemaError(
                "the element has more than \(TagScanner.attributeLimit) attributes",
                location: Self.place(tag.position, path))
        }
        var scanner = TagScanner(text)
        let first = scanner.next()
        let made: xmlTextReaderPtr? = text.withMemoryRebound(to: CChar.self) {
            guard Self.isReady else { return nil }
            let options = XML_PARSE_NONET.rawValue | XML_PARSE_NOCDATA.rawValue
            return xmlReaderForMemory($0.baseAddress, Int32(clamping: $0.count), nil, nil, Int32(options))
        }
        guard let made, contents.count <= ModelPackage.sizeLimit else {
            made.map(xmlFreeTextReader)
            bytes.deallocate()
            throw SchemaError("the file is too large or memory is short", location: Self.start(of: path))
        }
        self.bytes = bytes
        count = contents.count
        self.reader = made
        self.scanner = scanner
        failures = FirstFailure()
        let target = Unmanaged.passUnretained(failures).toOpaque()
        xmlTextReaderSetStructuredErrorHandler(made, FirstFailure.note, target)
        switch first {
        case .tag(let tag): pending = tag
        case .declaration(let position): throw refusal(of: position)
        case nil: pending = nil
        }
    }

    deinit {
        xmlFreeTextReader(reader)
        bytes.deallocate()
    }

    /// The root element, without its children.
    func root() throws(SchemaError) -> XMLElement {
        while try step() {
            if try isElement() {
                let element = try startTag()
                isDone = xmlTextReaderIsEmptyElement(reader) == 1
                return element
            }
        }
        throw failure() ?? SchemaError("the file holds no XML element", location: Self.start(of: path))
    }

    /// The next child of the root with all that it holds; nil after the last.
    func nextChild() throws(SchemaError) -> XMLElement? {
        while !isDone, try step() {
            if try isElement() { return try element() }
            if isEnd { isDone = true }
        }
        while try step() {}
        return nil
    }

    private func element() throws(SchemaError) -> XMLElement {
        var element = try startTag()
        if xmlTextReaderIsEmptyElement(reader) == 1 { return element }
        while try step() {
            if isEnd { break }
            if try isElement() { element.children.append(try self.element()) }
        }
        return element
    }
}

// MARK: - One node

extension XMLReader {
    /// The parser's tables are set up once, since that is not safe from several threads.
    private static let isReady: Bool = {
        xmlInitParser()
        return true
    }()

    private static func start(of path: String) -> SourceLocation {
        SourceLocation(path: path, line: 1, column: 1)
    }

    private static func refuseOtherEncodings(_ contents: [UInt8], path: String) throws(SchemaError) {
        guard
            contents.starts(with: [0xFE, 0xFF]) || contents.starts(with: [0xFF, 0xFE])
                || contents.prefix(4).contains(0)
        else { return }
        throw SchemaError("the file is no UTF-8 text. Save it as UTF-8", location: start(of: path))
    }

    private func refusal(of position: TagScanner.Position) -> SchemaError {
        SchemaError(
            "a model has no document type declaration. Remove it",
            location: Self.place(position, path))
    }

    private static func place(_ position: TagScanner.Position, _ path: String) -> SourceLocation {
        SourceLocation(path: path, line: position.line, column: position.column)
    }

    private func failure() -> SchemaError? {
        guard let first = failures.first else { return nil }
        // Of a file that just ends libxml2 says "extra content" at some place before.
        if first.isAtEnd {
            var scanner = TagScanner(UnsafeBufferPointer(start: bytes.baseAddress, count: count))
            if let end = scanner.openEnd() {
                return SchemaError(
                    "the file is cut short: it ends with \(scanner.depth) elements not closed. Restore it",
                    location: Self.place(end, path))
            }
        }
        return SchemaError(
            "the file is no well-formed XML: \(first.message)",
            location: SourceLocation(path: path, line: first.line, column: first.column))
    }

    /// Moves to the next node; false at the end of the document.
    private func step() throws(SchemaError) -> Bool {
        let answer = xmlTextReaderRead(reader)
        if let failure = failure() { throw failure }
        if answer < 0 { throw SchemaError("the file is no well-formed XML", location: Self.start(of: path)) }
        return answer == 1
    }

    private var isEnd: Bool { xmlTextReaderNodeType(reader) == Int32(XML_READER_TYPE_END_ELEMENT.rawValue) }

    private func isElement() throws(SchemaError) -> Bool {
        switch UInt32(bitPattern: xmlTextReaderNodeType(reader)) {
        case XML_READER_TYPE_ELEMENT.rawValue:
            return true
        case XML_READER_TYPE_TEXT.rawValue, XML_READER_TYPE_CDATA.rawValue:
            strayText.append(place(ofLine: Int(xmlTextReaderGetParserLineNumber(reader))))
            return false
        case XML_READER_TYPE_ENTITY_REFERENCE.rawValue, XML_READER_TYPE_DOCUMENT_TYPE.rawValue:
            throw SchemaError(
                "a model has no entities of its own. Write the text out",
                location: place(ofLine: Int(xmlTextReaderGetParserLineNumber(reader))))
        default:
            return false  // comments, space, processing instructions: libxml2's numbers, not an enum of ours
        }
    }

    private func place(ofLine line: Int) -> SourceLocation {
        SourceLocation(path: path, line: line, column: 1)
    }

    private func startTag() throws(SchemaError) -> XMLElement {
        let tag = nextTag()
        let location =
            tag.map { Self.place($0.position, path) } ?? place(ofLine: Int(xmlTextReaderGetParserLineNumber(reader)))
        let name = Self.text(xmlTextReaderConstName(reader))
        guard xmlTextReaderDepth(reader) < Self.depthLimit else {
            throw SchemaError("<\(name)> lies more than \(Self.depthLimit) elements deep", location: location)
        }
        var element = XMLElement(name: name, attributes: [], location: location)
        var places = AttributePlaces(tag)
        while xmlTextReaderMoveToNextAttribute(reader) == 1 {
            let attribute = Self.text(xmlTextReaderConstName(reader))
            let position = places.position(of: attribute)
            element.attributes.append(
                XMLAttribute(
                    name: attribute, value: Self.text(xmlTextReaderConstValue(reader)),
                    location: position.map { Self.place($0, path) } ?? location))
        }
        xmlTextReaderMoveToElement(reader)
        return element
    }

    private func nextTag() -> TagScanner.Tag? {
        defer { pending = nil }
        if let pending { return pending }
        if case .tag(let tag)? = scanner.next() { return tag }
        return nil
    }

    private static func text(_ pointer: UnsafePointer<xmlChar>?) -> String {
        pointer.map { String(cString: $0) } ?? ""
    }
}

/// Where the attributes of one tag stand. libxml2 gives them in the order of the file, name spaces first, so that the next one
/// asked for is nearly always the next one here.
private struct AttributePlaces {
    private let attributes: [(name: String, position: TagScanner.Position)]
    private var next = 0

    init(_ tag: TagScanner.Tag?) { attributes = tag?.attributes ?? [] }

    mutating func position(of name: String) -> TagScanner.Position? {
        let later = attributes[next...].firstIndex { $0.name == name }
        guard let place = later ?? attributes[..<next].firstIndex(where: { $0.name == name }) else { return nil }
        next = place + 1
        return attributes[place].position
    }
}

/// The first error that libxml2 reports; those after it mostly follow from it.
private final class FirstFailure {
    struct Failure {
        var message: String
        var line: Int
        var column: Int
        /// Whether it is about how the document ends.
        var isAtEnd: Bool
    }

    private(set) var first: Failure?

    static let note: xmlStructuredErrorFunc = { target, error in
        guard let target, let error, error.pointee.level.rawValue >= XML_ERR_ERROR.rawValue else { return }
        let failures = Unmanaged<FirstFailure>.fromOpaque(target).takeUnretainedValue()
        guard failures.first == nil else { return }
        let text = error.pointee.message.map { String(cString: $0) } ?? "unknown error"
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? text
        let code = UInt32(bitPattern: error.pointee.code)
        failures.first = Failure(
            message: line, line: max(1, Int(error.pointee.line)), column: max(1, Int(error.pointee.int2)),
            isAtEnd: code == XML_ERR_DOCUMENT_END.rawValue || code == XML_ERR_TAG_NOT_FINISHED.rawValue)
    }
}
