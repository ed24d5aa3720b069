// Notification names that know whether anybody ever asked for them.

import Foundation
import Synchronization

/// A notification name that is handed out by `asked`; until then nobody can be waiting for it by its constant.
///
/// Posting costs 6,000 instructions even when no one listens, and a save would post six times: a quarter of a commit of one
/// object (Decisions/0004). Notifications of that frequency are therefore posted only once their name has been read.
package final class AwaitedName: Sendable {
    private let name: NSNotification.Name
    private let wasAsked = Atomic<Bool>(false)

    package init(_ rawValue: String) { name = NSNotification.Name(rawValue) }

    /// The name, for whoever wants to observe or compare it.
    package var asked: NSNotification.Name {
        wasAsked.store(true, ordering: .relaxed)
        return name
    }

    /// The name for whoever posts it himself, and awaits nothing.
    package var unasked: NSNotification.Name { name }

    /// The name if somebody may be observing it.
    package var ifAwaited: NSNotification.Name? { wasAsked.load(ordering: .relaxed) ? name : nil }
}
