// What the tasks of requests ask for: the same as queries.c asks.

import Foundation

public enum Questions {
    /// The name that look-up `number` asks for.
    public static func name(_ number: Int, of rows: Int) -> String { Patients.name(number * 7919 % rows) }

    /// The values of `inList`: one name in ten that there are, and names that nobody has.
    public static var listedNames: [String] {
        (0..<listCount).map { index in
            if index < 51 { return Patients.name(index * 10) }
            var name = "\(Patients.name(index)) \(index)"
            name.makeContiguousUTF8()
            return name
        }
    }

    // MARK: The task join

    public static func wards(of rows: Int) -> Int { Patients.injuries(of: rows) }
    public static let hospitals = 10
    /// The city of a hospital, from 1 on.
    public static func city(_ hospital: Int) -> String { "City \(hospital % 5)" }
    /// The floor and the hospital of a ward, from 1 on.
    public static func ward(_ number: Int) -> (floor: Int64, hospital: Int) {
        (Int64(number / hospitals % 10), 1 + number % hospitals)
    }
    /// The ward of a visit, from 0 on.
    public static func wardOfVisit(_ index: Int, of rows: Int) -> Int { 1 + index % wards(of: rows) }
}
