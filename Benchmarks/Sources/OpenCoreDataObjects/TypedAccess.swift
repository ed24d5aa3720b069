// A generated property, read and written a million times by a module that is not Core Data's.

import CoreData
import Yardstick

struct TypedAccess {
    let stack: Stack
    let region: Region

    func run(_ task: Task) throws -> Checksum {
        stack.context.undoManager = nil
        return task == .typedRead ? try read() : try write()
    }

    private func patient() throws -> Patient {
        let request = Patient.fetchRequest()
        request.returnsObjectsAsFaults = false
        request.fetchLimit = 1
        guard let patient = try stack.context.fetch(request).first else { throw Failure("there are no patients") }
        return patient
    }

    private func read() throws -> Checksum {
        let patient = try patient()
        return Checksum(whole: region.measure { sum(patient) })
    }

    @inline(never)
    private func sum(_ patient: Patient) -> Int64 {
        var sum: Int64 = 0
        for _ in 0..<typedCount { sum &+= patient.age }
        return sum
    }

    /// Also sees that the object goes when it was saved: nothing that was set holds it.
    private func write() throws -> Checksum {
        weak var seen: Patient?
        let age = try {
            let patient = try patient()
            seen = patient
            region.measure { count(patient) }
            try stack.context.save()
            return patient.age
        }()
        guard seen == nil else { throw Failure("an object that was written \(typedCount) times is still there") }
        return Checksum(whole: age)
    }

    @inline(never)
    private func count(_ patient: Patient) {
        for number in 0..<Int64(typedCount) { patient.age = number }
    }
}
