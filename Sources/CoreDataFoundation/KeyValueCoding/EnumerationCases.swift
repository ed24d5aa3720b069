// The raw values of an enumeration, of which nothing but the type is known.

/// The raw values of all cases, in order; none for a type that is no enumeration, or one of more than 256 cases.
///
/// A getter that makes a case of a number or a text often does so by force, so it must be given one that there is. An enumeration
/// with raw values has no payloads; up to 256 cases it is one byte, the number of the case. How many there are stands in the type's
/// descriptor: flags, parent, name, accessor, fields, cases with a payload, cases without one, a 32-bit word each.
package func rawValues(ofCases type: Any.Type) -> [Any] {
    guard let type = type as? any RawRepresentable.Type else { return [] }
    return cases(of: type)
}

private func cases<T: RawRepresentable>(of type: T.Type) -> [Any] {
    let words = unsafeBitCast(type as Any.Type, to: UnsafePointer<UInt>.self)
    let enumeration: UInt = 0x201
    guard MemoryLayout<T>.size == 1, words[0] == enumeration,
        let descriptor = UnsafePointer<UInt32>(bitPattern: words[1]),
        descriptor[5] & 0xff_ffff == 0, descriptor[6] <= 256
    else { return [] }
    return (0..<descriptor[6]).map { number in
        withUnsafeBytes(of: UInt8(truncatingIfNeeded: number)) { $0.load(as: T.self).rawValue }
    }
}
