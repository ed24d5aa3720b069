// What messages will carry once there are histories and query generations.

import Foundation

/// A place in a store's history. This version keeps no history, so there is none; where one may be, nil stands.
///
/// - Unsupported: history comes with a later version.
public final class NSPersistentHistoryToken: NSObject, Sendable {
    private init(_ never: Never) {}
}

/// A state of the stores that a context may be pinned to. This version pins nothing, so there is none.
///
/// - Unsupported: query generations come with a later version.
public final class NSQueryGenerationToken: NSObject, Sendable {
    private init(_ never: Never) {}
}
