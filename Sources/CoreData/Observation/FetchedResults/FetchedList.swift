// The results at one moment: objects, and the sections they stand in.

import CoreDataValues
import Foundation

/// A list of objects, cut into sections wherever the name changes.
final class FetchedList {
    /// Names are the same where their bytes are, as the order of the objects tells texts apart.
    struct Section: Hashable {
        let name: String
        /// How many sections before it have the same name; 0 in a list that is sorted by section.
        let occurrence: Int

        static func == (a: Section, b: Section) -> Bool {
            a.occurrence == b.occurrence && a.name.hasSameBytes(b.name)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(occurrence)
            for byte in name.utf8 { hasher.combine(byte) }
        }
    }

    let objects: [NSManagedObject]
    /// The name of each object's section; empty where there is one section of all.
    let names: [String]
    let sections: [Section]
    /// Where each section begins, and where the last one ends.
    let bounds: [Int]
    private lazy var places = Dictionary(
        objects.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })

    /// - Parameter names: nil where there is one section of all.
    init(_ objects: [NSManagedObject], names: [String]?) {
        self.objects = objects
        self.names = names ?? []
        guard let names else {
            (sections, bounds) = ([Section(name: "", occurrence: 0)], [0, objects.count])
            return
        }
        var sections: [Section] = []
        var bounds: [Int] = []
        var seen: [Section: Int] = [:]
        for (place, name) in names.enumerated() where place == 0 || !names[place - 1].hasSameBytes(name) {
            let first = Section(name: name, occurrence: 0)
            sections.append(Section(name: name, occurrence: seen[first, default: 0]))
            seen[first, default: 0] += 1
            bounds.append(place)
        }
        (self.sections, self.bounds) = (sections, bounds + [objects.count])
    }

    /// The first name that two sections have.
    var repeatedName: String? { sections.first { $0.occurrence > 0 }?.name }

    func range(of section: Int) -> Range<Int> { bounds[section]..<bounds[section + 1] }

    func place(of object: NSManagedObject) -> Int? { places[ObjectIdentifier(object)] }

    func path(of object: NSManagedObject) -> IndexPath? { place(of: object).map(path(at:)) }

    /// The number of the section that a place lies in, by halves.
    func section(at place: Int) -> Int {
        var (low, high) = (0, sections.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if bounds[middle] <= place { low = middle } else { high = middle - 1 }
        }
        return low
    }

    func path(at place: Int) -> IndexPath {
        let section = section(at: place)
        return IndexPath(indexes: [section, place - bounds[section]])
    }

    func place(at path: IndexPath) -> Int? {
        guard path.count == 2, sections.indices.contains(path[0]) else { return nil }
        let place = bounds[path[0]] + path[1]
        return path[1] >= 0 && place < bounds[path[0] + 1] ? place : nil
    }
}
