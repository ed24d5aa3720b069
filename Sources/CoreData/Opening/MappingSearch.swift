// Where a mapping model takes the place of an inferred one.

import CoreDataModelFile
import CoreDataValues
import Foundation

/// Carries a store over by what somebody wrote down. Nothing is changed when it throws.
typealias MappedMigration = (_ site: MigrationSite) throws -> Void

/// Looks in the bundles for a mapping model between two models.
enum MappingSearch {
    /// nil where there is none, so that the migration is inferred.
    ///
    /// - Parameter site: the store; its `source` and `destination` are what a mapping model must fit.
    static func migration(for site: MigrationSite) throws -> MappedMigration? {
        // A model that was loaded by its path has its mapping models beside it.
        let package = (site.destination.versions as? ModelPackage)?.url.deletingLastPathComponent()
        let folders = [package].compactMap { $0 } + ModelSearch.usualFolders()
        guard let mapping = try NSMappingModel.fitting(site.source.schema, site.destination, in: folders) else {
            return nil
        }
        return { site in
            try NSMigrationManager(
                sourceModel: site.source.model(), destinationModel: site.coordinator.managedObjectModel
            ).migrateInPlace(
                site.url, type: site.type, options: site.options.given,
                configurations: (site.source.configuration, site.configuration),
                in: site.folder, with: mapping)
        }
    }
}
