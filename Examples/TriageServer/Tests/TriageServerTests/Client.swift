// HTTP for the tests: one connection for each request, so that requests are as independent as those of strangers.

import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import Testing

@testable import TriageServer

struct Answer: Sendable {
    let status: Int
    let headers: HTTPFields
    let body: Data

    var text: String { String(decoding: body, as: UTF8.self) }

    func decoded<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(T.self, from: body)
    }
}

struct Client: Sendable {
    let port: Int

    func get(_ path: String) async throws -> Answer { try await send(.get, path) }

    /// Sends a request and holds the answer to the description.
    ///
    /// - Parameter tags: each becomes a header field of its own.
    func send(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, ifMatch tags: String...)
        async throws -> Answer
    {
        let answer = try await answer(method, path, body, tags)
        let complaints = OpenAPI.own.complaints(method.rawValue, path, answer)
        #expect(complaints.isEmpty, "\(method) \(path) was answered \(answer.status): \(complaints)")
        return answer
    }

    private func answer(_ method: HTTPRequest.Method, _ path: String, _ body: String?, _ tags: [String]) async throws
        -> Answer
    {
        try await exchanging(method, path, body, tags) { parts in
            var head: HTTPResponse?
            var body = Data()
            for try await part in parts {
                switch part {
                case .head(let response): head = response
                case .body(let bytes): body.append(contentsOf: bytes.readableBytesView)
                case .end:
                    guard let head else { throw Broken() }
                    return Answer(status: head.status.code, headers: head.headerFields, body: body)
                }
            }
            throw Broken()
        }
    }

    /// The connection ended before the answer did.
    struct Broken: Error {}

    /// Reads an answer that has no end, line by line, until the body of the call returns.
    func lines<T: Sendable>(_ path: String, _ body: (inout Lines) async throws -> T) async throws -> T {
        try await exchanging(.get, path, nil, []) { parts in
            var lines = Lines(parts: parts.makeAsyncIterator())
            return try await body(&lines)
        }
    }

    struct Lines {
        fileprivate var parts: NIOAsyncChannelInboundStream<HTTPResponsePart>.AsyncIterator
        private var rest = ""

        fileprivate init(parts: NIOAsyncChannelInboundStream<HTTPResponsePart>.AsyncIterator) { self.parts = parts }

        /// nil at the end of the answer.
        mutating func next() async throws -> String? {
            while true {
                if let end = rest.firstIndex(of: "\n") {
                    defer { rest.removeSubrange(...end) }
                    return String(rest[..<end])
                }
                switch try await parts.next() {
                case .body(let bytes): rest += String(buffer: bytes)
                case .head: continue
                case .end, nil: return nil
                }
            }
        }
    }

    private func exchanging<T: Sendable>(
        _ method: HTTPRequest.Method, _ path: String, _ body: String?, _ tags: [String],
        _ receive: (NIOAsyncChannelInboundStream<HTTPResponsePart>) async throws -> T
    ) async throws -> T {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPClientCodec())
                    return try NIOAsyncChannel<HTTPResponsePart, HTTPRequestPart>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var head = HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1:\(port)", path: path)
            head.headerFields[values: .ifMatch] = tags
            if let body { head.headerFields[.contentLength] = "\(body.utf8.count)" }
            try await outbound.write(.head(head))
            if let body { try await outbound.write(.body(ByteBuffer(string: body))) }
            try await outbound.write(.end(nil))
            return try await receive(inbound)
        }
    }
}

/// A refusal as clients see it.
struct Told: Decodable {
    var message: String
    var keys: [String]
}

/// A list of casualties as clients see it.
struct CasualtyPage: Decodable {
    var total: Int?
    var page: Int
    var items: [CasualtyAnswer]
}
