// Which properties of managed objects are encoded, and under which names.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The properties of objects of one class that are encoded: `EncodingForm<Casualty>(\.name, \.station?.name)`.
///
/// A form is bound to a model once and can be kept as a constant. Names are those of the properties, a property behind a to-one
/// stands in a container of the relationship's name. It names stored and transient attributes, elements of composites, `objectID` (as
/// the text of its URI), and computed properties that the class lists in `additionalKeys`.
public struct EncodingForm<Root: NSManagedObject>: @unchecked Sendable {
    // Key paths are immutable, and what is bound is behind a lock.
    private(set) var parts: [EncodingPart]
    private(set) var writesNulls = false
    private var plans = EncodingPlans()

    public init(_ properties: PartialKeyPath<Root>...) { self.init(paths: properties) }

    init(paths: [AnyKeyPath]) { parts = paths.map { .property($0, name: nil) } }

    private func changed(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        copy.plans = EncodingPlans()
        change(&copy)
        return copy
    }

    /// One more property under a name of its own, beside the others wherever it lies: `.adding(\.injuries.count, as: "injuryCount")`.
    public func adding(_ property: PartialKeyPath<Root>, as name: String) -> Self {
        changed { $0.parts.append(.property(property, name: name)) }
    }

    /// Writes null for nil, which is left out otherwise, as by structures that Swift encodes.
    public func writingNulls() -> Self { changed { $0.writesNulls = true } }

    // MARK: To-manys

    /// The members of a to-many as a list, in their order; those of one without order in the order given, else in any.
    public func each<Member: NSManagedObject, Members: Sequence<Member>>(
        _ members: KeyPath<Root, Members>, _ properties: PartialKeyPath<Member>...,
        sortedBy order: [SortDescriptor<Member>] = []
    ) -> Self { each(members, EncodingForm<Member>(paths: properties), order) }

    public func each<Member: NSManagedObject, Members: Sequence<Member>>(
        _ members: KeyPath<Root, Members?>, _ properties: PartialKeyPath<Member>...,
        sortedBy order: [SortDescriptor<Member>] = []
    ) -> Self { each(members, EncodingForm<Member>(paths: properties), order) }

    /// The same of a to-many whose property does not tell the class of its members, such as an `NSSet`.
    public func each<Member: NSManagedObject>(
        _ members: PartialKeyPath<Root>, of type: Member.Type, _ properties: PartialKeyPath<Member>...,
        sortedBy order: [SortDescriptor<Member>] = []
    ) -> Self { each(members, EncodingForm<Member>(paths: properties), order) }

    /// The same by a form of the members, which may have to-manys of its own.
    public func each<Member: NSManagedObject, Members: Sequence<Member>>(
        _ members: KeyPath<Root, Members>, _ form: EncodingForm<Member>, sortedBy order: [SortDescriptor<Member>] = []
    ) -> Self { each(members, form, order) }

    public func each<Member: NSManagedObject, Members: Sequence<Member>>(
        _ members: KeyPath<Root, Members?>, _ form: EncodingForm<Member>, sortedBy order: [SortDescriptor<Member>] = []
    ) -> Self { each(members, form, order) }

    public func each<Member: NSManagedObject>(
        _ members: PartialKeyPath<Root>, of form: EncodingForm<Member>, sortedBy order: [SortDescriptor<Member>] = []
    ) -> Self { each(members, form, order) }

    private func each<Member>(_ members: AnyKeyPath, _ form: EncodingForm<Member>, _ order: [SortDescriptor<Member>])
        -> Self
    {
        let sorting = order.map { NSSortDescriptor($0) }
        return changed { $0.parts.append(.each(members, form.parts, .objects(writesNulls: form.writesNulls), sorting)) }
    }

    /// One value of each member of a to-many as a list of values: `.listing(\.injuries, \.name)` makes `"injuries":["burn","cut"]`.
    /// A member that has none is left out.
    public func listing<Member: NSManagedObject, Members: Sequence<Member>>(
        _ members: KeyPath<Root, Members>, _ property: PartialKeyPath<Member>,
        sortedBy order: [SortDescriptor<Member>] = []
    ) -> Self { listing(members, property, order) }

    public func listing<Member: NSManagedObject, Members: Sequence<Member>>(
        _ members: KeyPath<Root, Members?>, _ property: PartialKeyPath<Member>,
        sortedBy order: [SortDescriptor<Member>] = []
    ) -> Self { listing(members, property, order) }

    /// The same of a to-many whose property does not tell the class of its members, such as an `NSSet`.
    public func listing<Member: NSManagedObject>(
        _ members: PartialKeyPath<Root>, of type: Member.Type, _ property: PartialKeyPath<Member>,
        sortedBy order: [SortDescriptor<Member>] = []
    ) -> Self { listing(members, property, order) }

    private func listing<Member: NSManagedObject>(
        _ members: AnyKeyPath, _ property: PartialKeyPath<Member>, _ order: [SortDescriptor<Member>]
    ) -> Self {
        let sorting = order.map { NSSortDescriptor($0) }
        return changed { $0.parts.append(.each(members, [.property(property, name: "value")], .values, sorting)) }
    }

    // MARK: Binding

    /// - Throws: `EncodingError` for what the entity has no value for.
    func plan(for info: EntityInfo, _ runtime: ModelRuntime) throws -> EncodingPlan {
        try plans.plan(for: info) {
            try EncodingPlanMaker(info, runtime, .objects(writesNulls: writesNulls)).plan(of: parts, for: Root.self)
        }
    }
}

/// A part of a form, whatever its class.
enum EncodingPart {
    /// With a name it stands at the top, else where its keys say.
    case property(AnyKeyPath, name: String?)
    case each(AnyKeyPath, [EncodingPart], EncodingPlan.Shape, [NSSortDescriptor])
}

/// What a form was bound to. A program has few models; where it has many all are let go.
final class EncodingPlans: @unchecked Sendable {
    private let lock = NSLock()
    private var known: [ObjectIdentifier: EncodingPlan] = [:]

    func plan(for info: EntityInfo, _ make: () throws -> EncodingPlan) throws -> EncodingPlan {
        if let plan = lock.withLock({ known[ObjectIdentifier(info)] }) { return plan }
        // Outside the lock, since getters are the program's code.
        let plan = try make()
        lock.withLock {
            if known.count >= 16 { known = [:] }
            known[ObjectIdentifier(info)] = plan
        }
        return plan
    }
}

/// The forms of lists of key paths that stand in calls.
enum EncodingForms {
    private struct List: Hashable, @unchecked Sendable { let paths: [AnyKeyPath] }
    nonisolated(unsafe) private static var known: [List: EncodingPlans] = [:]
    private static let lock = NSLock()

    static func plans(of paths: [AnyKeyPath]) -> EncodingPlans {
        let list = List(paths: paths)
        return lock.withLock {
            if let plans = known[list] { return plans }
            if known.count >= KeyPathNames.limit { known = [:] }
            let plans = EncodingPlans()
            known[list] = plans
            return plans
        }
    }
}
