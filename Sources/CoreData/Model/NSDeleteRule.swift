// What happens to the objects at the other end of a relationship when its owner is deleted.

import CoreDataValues

/// What happens to the objects at the other end of a relationship when its owner is deleted.
public enum NSDeleteRule: UInt, Sendable {
    /// Nothing: the other end keeps a key to an object that is gone.
    case noActionDeleteRule = 0
    /// The inverse is set to nil.
    case nullifyDeleteRule = 1
    /// The objects are deleted as well.
    case cascadeDeleteRule = 2
    /// The deletion is refused while there are any.
    case denyDeleteRule = 3
}

extension NSDeleteRule {
    package init(_ rule: DeleteRule) {
        switch rule {
        case .noAction: self = .noActionDeleteRule
        case .nullify: self = .nullifyDeleteRule
        case .cascade: self = .cascadeDeleteRule
        case .deny: self = .denyDeleteRule
        }
    }

    package var schemaRule: DeleteRule {
        switch self {
        case .noActionDeleteRule: .noAction
        case .nullifyDeleteRule: .nullify
        case .cascadeDeleteRule: .cascade
        case .denyDeleteRule: .deny
        }
    }
}
