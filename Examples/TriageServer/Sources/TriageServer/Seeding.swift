// The constant table, there before the first request.

import CoreData

extension NSPersistentContainer {
    static let injuries = "Blunt Trauma%Burn%C-Spine%Cardiac%Crushing%Fracture%Laceration%Penetration"

    /// Inserts the injuries, unless an earlier start did. One transaction: all of them or none.
    func seed() async throws {
        try await write { context in
            guard try Injury.count(in: context) == 0 else { return }
            for (id, name) in Self.injuries.split(separator: "%").enumerated() {
                let injury = Injury(context: context)
                injury.id = Int32(id)
                injury.name = String(name)
            }
        }
    }
}
