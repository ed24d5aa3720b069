// What the roles of a store have in common.

/// A role that a store, or what stands for one, takes; none refuses a requirement of a role that it takes.
package protocol StoreRole: AnyObject, Sendable {
    var schema: Schema { get }
    /// What it does beyond its roles; costs nothing and never changes.
    var capabilities: StoreCapabilities { get }
}

/// What not every store does. It is asked first: who has no better way does it by reading rows.
package struct StoreCapabilities: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// `memberKeys` names members without reading their rows, also such as have none.
    package static let memberKeys = StoreCapabilities(rawValue: 1)
    /// `isMember` tells of one pair without a look at the other members.
    package static let membership = StoreCapabilities(rawValue: 2)
    /// `pinnedView` pins; else it answers the latest state.
    package static let pinnedViews = StoreCapabilities(rawValue: 4)
}
