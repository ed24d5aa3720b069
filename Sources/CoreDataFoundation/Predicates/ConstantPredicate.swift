// TRUEPREDICATE and FALSEPREDICATE as predicate objects of ours.

import CoreDataValues
import enum CoreDataValues.Predicate
import Foundation

/// What a format text makes of `TRUEPREDICATE` and `FALSEPREDICATE`. Foundation's own predicate cannot be archived.
final class ConstantPredicate: NSPredicate, NSSecureCoding {
    private let flag: Bool

    init(_ flag: Bool) {
        self.flag = flag
        super.init(value: flag)
    }

    override var description: String { flag ? "TRUEPREDICATE" : "FALSEPREDICATE" }
    override func copy(with zone: NSZone? = nil) -> Any { self }
    override var hash: Int { flag.hashValue }

    static var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) { coder.encode(tree: Predicate.constant(flag)) }

    required init?(coder: NSCoder) {
        guard case .constant(let flag) = coder.decodeTree(Predicate.self) else { return nil }
        self.flag = flag
        super.init(value: flag)
    }
}
