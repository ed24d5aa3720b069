// A list that follows what is saved, as server-sent events.

import CoreData
import Foundation
import Hummingbird
import ServiceLifecycle

/// The page of a query, and the page anew each time something was saved, until who reads it goes away.
///
/// A burst of saves is one reading: at most one signal waits, however slow the reader is.
struct LiveList: AsyncSequence, Sendable {
    let container: NSPersistentContainer
    let query: CasualtyQuery

    func makeAsyncIterator() -> Iterator {
        let (saves, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // Observed before the first reading, so that no save comes between.
        let observation = NotificationCenter.default.addObserver(
            for: NSManagedObjectContext.DidSaveObjectIDsAsyncMessage.self
        ) { _ in
            signal.yield()
        }
        signal.onTermination = { _ in NotificationCenter.default.removeObserver(observation) }
        signal.yield()
        return Iterator(list: self, saves: saves.makeAsyncIterator())
    }

    struct Iterator: AsyncIteratorProtocol {
        let list: LiveList
        var saves: AsyncStream<Void>.Iterator
        private var last: [CasualtyAnswer]?

        fileprivate init(list: LiveList, saves: AsyncStream<Void>.Iterator) {
            self.list = list
            self.saves = saves
        }

        mutating func next() async throws -> [CasualtyAnswer]? {
            while await saves.next() != nil {
                let query = list.query
                let page = try await list.container.read { context in
                    try context.fetch(query.request()).map { CasualtyAnswer($0, with: query.relations) }
                }
                // What was saved need not be on this page.
                guard page != last else { continue }
                last = page
                return page
            }
            return nil
        }
    }
}

struct LiveRoutes: Sendable {
    let container: NSPersistentContainer

    func add(to router: Router<BasicRequestContext>) { router.get("live", use: live) }

    /// Takes the query parameters of `GET /casualties`.
    @Sendable func live(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let list = LiveList(container: container, query: try CasualtyQuery(request.uri.queryParameters))
        let encoder = context.responseEncoder
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"],
            body: ResponseBody { writer in
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    // Without this a listener would keep the server from ending.
                    for try await page in list.cancelOnGracefulShutdown() {
                        try await writer.write(
                            ByteBuffer(bytes: Data("data: ".utf8) + encoder.encode(page) + Data("\n\n".utf8)))
                    }
                }
                try await writer.finish(nil)
            })
    }
}
