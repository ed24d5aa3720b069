// Which relationships of a mapping model are filled when objects are made.

import CoreDataValues

/// To-ones that lead to objects of an earlier mapping are set when their own objects are made, and so are the to-manys on their other
/// side: the second pass would read and write all of these rows once more.
///
/// Only where nobody can tell: no policy is the program's own, and nothing else of the mapping model has a say in either side.
struct EarlyLinks {
    private typealias Property = MappingStep.Property
    /// A relationship of the destination that a step fills.
    private struct Filling {
        let step: Int
        let property: Property
        let relationship: ResolvedRelationship
    }

    private var links: [ObjectIdentifier: [MappingStep.Property]] = [:]
    /// For each step the steps whose objects fill its relationships early, one for each such relationship.
    private var filled: [ObjectIdentifier: [ObjectIdentifier]] = [:]
    /// For each step the to-manys that the objects of another step fill early.
    private var mirrored: [ObjectIdentifier: [Int]] = [:]
    private let isPlain: Bool

    init(_ steps: [MappingStep]) {
        isPlain = steps.allSatisfy { type(of: $0.policy) == NSEntityMigrationPolicy.self }
        guard isPlain else { return }
        let places = Dictionary(steps.indices.map { (steps[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        let fillings = steps.indices.flatMap { Self.fillings(steps[$0], $0) }
        for filling in fillings {
            guard let linked = filling.property.linked, let target = places[linked.mapping], target < filling.step,
                Self.isFree(filling, steps[filling.step], linked)
            else { continue }
            let same = fillings.filter { $0.relationship.index == filling.relationship.index }
            let opposite = fillings.filter { $0.relationship.index == filling.relationship.inverse }
            // Of several that fill one side each fills its own objects.
            guard same.filter({ $0.step == filling.step }).count == 1, opposite.isEmpty || same.count == 1,
                opposite.allSatisfy({ $0.step == target && Self.mirrors($0, filling, linked, steps) })
            else { continue }
            let id = ObjectIdentifier(steps[filling.step])
            links[id, default: []].append(filling.property)
            filled[id, default: []].append(id)
            for mirror in opposite {
                let step = ObjectIdentifier(steps[mirror.step])
                filled[step, default: []].append(id)
                if case .toMany(let index) = mirror.relationship.place { mirrored[step, default: []].append(index) }
            }
        }
    }

    /// Those that are set when an object of a step is made.
    func links(of step: MappingStep) -> [MappingStep.Property] { links[ObjectIdentifier(step)] ?? [] }

    /// The to-manys of a step's objects that the objects of other steps fill.
    func mirrored(by step: MappingStep) -> [Int] { mirrored[ObjectIdentifier(step)] ?? [] }

    /// Whether the second pass has nothing to do for a step.
    ///
    /// - Parameter unlinked: the steps that have an object whose to-one could not be set, or that has members of its own making.
    func leavesNothing(for step: MappingStep, _ unlinked: Set<ObjectIdentifier>) -> Bool {
        let filled = filled[ObjectIdentifier(step)] ?? []
        return isPlain && filled.count == step.relationships.count && unlinked.isDisjoint(with: filled)
            && !unlinked.contains(ObjectIdentifier(step))
    }

    private static func fillings(_ step: MappingStep, _ place: Int) -> [Filling] {
        step.relationships.compactMap { property in
            relationship(property.name, step.destinationEntity).map {
                Filling(step: place, property: property, relationship: $0)
            }
        }
    }

    private static func relationship(_ name: String, _ entity: NSEntityDescription?) -> ResolvedRelationship? {
        guard let info = entity?.info else { return nil }
        return info.relationships.first { $0.name == name }
    }

    /// Whether a to-one that is set early comes to the same: no order and no number of members depends on it.
    private static func isFree(_ filling: Filling, _ step: MappingStep, _ linked: MappingStep.Linked) -> Bool {
        guard let info = step.destinationEntity?.info, !info.entity.slots[linked.to].isTransient else { return false }
        guard let inverse = info.slotInverses[linked.to] else { return true }
        guard case .toMany = inverse.place, !inverse.isOrdered, !inverse.description.isTransient else { return false }
        return inverse.description.minCount == 0 && inverse.description.maxCount <= 0
    }

    /// Whether a to-many is what becomes of the members on the other side of a to-one.
    private static func mirrors(
        _ other: Filling, _ filling: Filling, _ linked: MappingStep.Linked, _ steps: [MappingStep]
    ) -> Bool {
        guard steps[other.step].destinationEntity?.info.classBinding.writesAsUsual == true,
            steps[other.step].sourceEntity?.info.classBinding.readsAsUsual == true,
            case .manager(.destinations, let arguments) = other.property.value, arguments.count == 2,
            case .constant(let mapping as String) = arguments[0], mapping == steps[filling.step].name,
            case .path(.variable(.source), let path) = arguments[1],
            let members = relationship(path, steps[other.step].sourceEntity), case .toMany = members.place,
            let inverse = steps[filling.step].sourceEntity?.info.slotInverses[linked.from]
        else { return false }
        return inverse.index == members.index
    }
}
