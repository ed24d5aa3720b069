// Row versions as entity tags: `ETag` in answers, `If-Match` in requests.

import CoreData
import Hummingbird

/// An answer with the entity tag of the row that it was read from.
struct Versioned<Body: Encodable & Sendable>: ResponseGenerator, Sendable {
    var body: Body
    var tag: String?
    var status = HTTPResponse.Status.ok
    var location: String?

    init(_ body: Body, tag: String?) {
        self.body = body
        self.tag = tag
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response =
            if let object = body as? EncodedObject { Response(json: try object.json(by: .answers)) } else {
                try context.responseEncoder.encode(body, from: request, context: context)
            }
        response.status = status
        response.headers[.eTag] = tag
        response.headers[.location] = location
        return response
    }
}

extension Response {
    /// What was written straight from objects.
    init(json: Data) {
        self.init(
            status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(bytes: json)))
    }
}

extension JSONEncoder {
    /// Writes dates as the other answers have them.
    static let answers: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }()
}

extension NSManagedObject {
    /// Names a version of a row: `"p7-2"`. The row's own number is in it, since clients choose codes and IDs: another row may come under
    /// the same one, and begins with version 1 again. Numbers do not come again.
    var entityTag: String? {
        rowVersion.map { "\"\(objectID.uriRepresentation().lastPathComponent)-\($0)\"" }
    }
}

extension Request {
    /// The tags of `If-Match`, in one field or several; nil when the client takes any version.
    var expectedTags: [String]? {
        let tags = headers[.ifMatch]?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return tags == ["*"] ? nil : tags
    }
}

extension NSManagedObjectContext {
    /// Makes the save fail unless the row still has the version that the client has seen, which is compared in the save's transaction.
    ///
    /// - Throws: 412 if none of the tags is the object's, letter by letter. So a weak one never is.
    func expect(tags: [String]?, of object: NSManagedObject) throws {
        guard let tags else { return }
        guard let version = object.rowVersion, let tag = object.entityTag, tags.contains(tag) else {
            throw Problem.changed
        }
        expect(version, of: object)
    }
}
