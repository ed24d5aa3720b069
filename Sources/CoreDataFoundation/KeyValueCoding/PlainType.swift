// The types that most arguments and values are of.

import Foundation

/// A type that is told by itself alone: to find out by casts what a thing is not takes thousands of instructions.
enum PlainType {
    case string, int, double, date, dateObject, number, uuid

    /// nil for an object of any other type, be it a subclass of one of these.
    @inline(__always)
    init?(of object: Any) {
        let type = ObjectIdentifier(type(of: object))
        if type == ObjectIdentifier(String.self) {
            self = .string
        } else if type == ObjectIdentifier(Int.self) {
            self = .int
        } else if type == ObjectIdentifier(Double.self) {
            self = .double
        } else if type == ObjectIdentifier(Date.self) {
            self = .date
        } else if type == ObjectIdentifier(NSDate.self) {
            self = .dateObject
        } else if type == ObjectIdentifier(NSNumber.self) {
            self = .number
        } else if type == ObjectIdentifier(UUID.self) {
            self = .uuid
        } else {
            return nil
        }
    }
}
