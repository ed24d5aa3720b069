// Whose results a context's events change.

import Foundation

/// The controllers of a context, held weakly.
final class FetchedFollowers {
    private struct Follower { weak var results: FetchedResults? }
    private var all: [Follower] = []

    func add(_ results: FetchedResults) {
        all.removeAll { $0.results == nil || $0.results === results }
        all.append(Follower(results: results))
    }

    var each: [FetchedResults] { all.compactMap(\.results) }
}

extension NSManagedObjectContext {
    final func follow(_ results: FetchedResults) {
        let followers = followers ?? FetchedFollowers()
        self.followers = followers
        followers.add(results)
    }

    /// Tells the controllers which objects an event was about.
    @inline(never) final func tellFollowers(of objects: some Sequence<NSManagedObject>) {
        for results in followers?.each ?? [] { results.accept(objects) }
    }

    @inline(never) final func tellFollowersOfPermanentIDs() {
        for results in followers?.each ?? [] { results.acceptPermanentIDs() }
    }

    @inline(never) final func tellFollowersOfReset() {
        for results in followers?.each ?? [] { results.acceptReset() }
    }
}
