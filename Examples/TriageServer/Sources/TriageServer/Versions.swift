// Row versions as entity tags: `ETag` in answers, `If-Match` in requests.

import CoreData
import Hummingbird

/// An answer with the version of the row that it was read from.
struct Versioned<Body: Encodable & Sendable>: ResponseGenerator, Sendable {
    var body: Body
    var version: Int?
    var status = HTTPResponse.Status.ok
    var location: String?

    init(_ body: Body, version: Int?) {
        self.body = body
        self.version = version
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response =
            if let object = body as? EncodedObject { Response(json: try object.json(by: .answers)) } else {
                try context.responseEncoder.encode(body, from: request, context: context)
            }
        response.status = status
        response.headers[.eTag] = version.map { "\"\($0)\"" }
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

extension Request {
    /// The version that the client has seen; nil when it takes any.
    ///
    /// - Throws: 412 for a tag that no row can have.
    func expectedVersion() throws -> Int? {
        guard let tag = headers[.ifMatch], tag != "*" else { return nil }
        guard tag.hasPrefix("\""), tag.hasSuffix("\""), let version = Int(tag.dropFirst().dropLast()) else {
            throw Problem(.preconditionFailed, "No row has the version \(tag).")
        }
        return version
    }
}
