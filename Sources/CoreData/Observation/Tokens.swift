// What messages will carry once there are query generations.

import Foundation

/// A state of the stores that a context may be pinned to. This version pins nothing, so there is none.
///
/// - Unsupported: query generations come with a later version.
public final class NSQueryGenerationToken: NSObject, Sendable {
    private init(_ never: Never) {}
}
