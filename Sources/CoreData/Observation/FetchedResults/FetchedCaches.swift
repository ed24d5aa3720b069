// Which fetch goes by which name of a cache.

import CoreDataFoundation
import CoreDataValues
import Foundation
import Synchronization

/// Which fetch goes by which name of a cache.
enum FetchedCaches {
    private static let words = Mutex<[String: String]>([:])

    static func delete(_ name: String?) {
        words.withLock { if let name { $0[name] = nil } else { $0 = [:] } }
    }

    /// - Throws: 134060 when another fetch goes by the name.
    static func check(_ name: String, _ plan: FetchedPlan) throws {
        let asked = plan.words
        let isSame = words.withLock { words in
            let known = words[name] ?? asked
            words[name] = known
            return known == asked
        }
        guard isSame else {
            throw CocoaError.coreData(
                134060,
                "The cache \(name) belongs to another fetch than this one for \(plan.fetch.info.entity.name): its entity, predicate, "
                    + "sort order or section key path differs. Call deleteCache(withName:) before performFetch().")
        }
    }
}
