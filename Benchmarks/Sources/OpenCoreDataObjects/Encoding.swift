// A thousand patients as JSON: by `encoded` with the encoder and without, and by structures that a program declares and fills itself.

import CoreData
import Yardstick

extension GraphTasks {
    private struct PatientForm: Encodable {
        struct InjuryForm: Encodable { let name: String }
        let name: String
        let age: Int64
        let weight: Double
        let admitted: Date
        let note: String?
        let injury: InjuryForm?

        init(_ patient: Patient) {
            name = patient.name
            age = patient.age
            weight = patient.weight
            admitted = patient.admitted
            note = patient.note
            injury = patient.injury.map { InjuryForm(name: $0.name) }
        }
    }

    /// From objects whose values and injuries are in memory to the bytes of an answer. `YARDSTICK_ENCODE` names the way.
    func encode() throws -> Checksum {
        let request = NSFetchRequest<Patient>(entityName: "Patient")
        request.returnsObjectsAsFaults = false
        request.fetchLimit = 1_000
        request.relationshipKeyPathsForPrefetching = ["injury"]
        let patients = try stack.context.fetch(request)
        let way = ProcessInfo.processInfo.environment["YARDSTICK_ENCODE"]
        let encoder = JSONEncoder()
        func bytes() throws -> Int {
            if way == "structures" { return try encoder.encode(patients.map(PatientForm.init)).count }
            let list = try patients.encoded(\.name, \.age, \.weight, \.admitted, \.note, \.injury?.name)
            return try way == "json" ? list.json(by: encoder).count : encoder.encode(list).count
        }
        _ = try bytes()
        return Checksum(whole: Int64(try region.measure(bytes)))
    }
}
