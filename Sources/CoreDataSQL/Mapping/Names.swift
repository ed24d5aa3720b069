// Names of tables and columns: Core Data's spelling, its collision suffixes, and quoting.

/// Names already given in one namespace. The second owner of a name gets `1` behind it, the third `2`.
struct Namespace {
    private var taken: Set<String> = []

    init(_ reserved: [String] = []) { taken = Set(reserved) }

    mutating func take(_ name: String) -> String {
        var candidate = name
        var suffix = 0
        while !taken.insert(candidate).inserted {
            suffix += 1
            candidate = name + String(suffix)
        }
        return candidate
    }
}

/// An identifier as SQL text: always quoted, so that no model name can mean anything else.
package func quoted(_ name: String) -> String {
    // Looked at first: replacing nothing takes 7,000 instructions a name.
    let plain = name.utf8.contains(UInt8(ascii: "\"")) ? name.replacing("\"", with: "\"\"") : name
    return "\"" + plain + "\""
}

/// An identifier as definitions spell it: bare where Core Data's own files have it bare.
func bare(_ name: String) -> String {
    let plain = name.utf8.allSatisfy { byte in
        byte >= 0x80 || byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte)
            || (0x41...0x5a).contains(byte)
            || (0x61...0x7a).contains(byte)
    }
    return plain ? name : quoted(name)
}
