// Where a mapping model takes the place of an inferred one.

import CoreDataValues
import Foundation

/// Carries a store over by what somebody wrote down. Nothing is changed when it throws.
typealias MappedMigration = (_ site: MigrationSite) throws -> Void

/// Looks in the bundles for a mapping model between two models.
enum MappingSearch {
    /// nil where there is none, so that the migration is inferred.
    ///
    /// - Parameter site: the store; its `source` and `coordinator.managedObjectModel` are what a mapping model must fit.
    static func migration(for site: MigrationSite) throws -> MappedMigration? { nil }
}
