// Holds answers to the OpenAPI description: status, headers, and the body by its schema.

import Foundation

/// A value of JSON.
enum JSON: Decodable, Sendable, Equatable {
    case null, bool(Bool), number(Double), text(String), list([JSON]), object([String: JSON])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSON].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JSON].self))
        }
    }

    subscript(key: String) -> JSON? { object?[key] }
    var object: [String: JSON]? { if case .object(let object) = self { object } else { nil } }
    var list: [JSON]? { if case .list(let list) = self { list } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }

    /// As schemas name them; a whole number is also a number.
    var types: [String] {
        switch self {
        case .null: ["null"]
        case .bool: ["boolean"]
        case .number(let number): number.rounded() == number ? ["integer", "number"] : ["number"]
        case .text: ["string"]
        case .list: ["array"]
        case .object: ["object"]
        }
    }
}

struct OpenAPI: Sendable {
    let root: JSON

    /// That of the sources, which the server answers too.
    static let own: OpenAPI = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../Sources/TriageServer/openapi.json")
        return OpenAPI(root: try! JSONDecoder().decode(JSON.self, from: Data(contentsOf: file)))
    }()

    /// What an answer has otherwise than the description says.
    func complaints(_ method: String, _ path: String, _ answer: Answer) -> [String] {
        guard let operation = operation(method, path) else {
            return answer.status == 404 ? [] : ["there is no such operation"]
        }
        guard let response = operation["responses"]?["\(answer.status)"].map(resolved) else {
            return ["the operation has no such status"]
        }
        let names = Set(answer.headers.map { $0.name.canonicalName })
        let missing = (response["headers"]?.object ?? [:]).keys.filter { !names.contains($0.lowercased()) }
        return missing.map { "the header \($0) is missing" } + body(answer, response["content"]?.object ?? [:])
    }

    private func operation(_ method: String, _ path: String) -> JSON? {
        let segments = path.prefix { $0 != "?" }.split(separator: "/")
        let fitting = (root["paths"]?.object ?? [:]).filter { template, _ in
            let names = template.split(separator: "/")
            return names.count == segments.count && zip(names, segments).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
        }
        return fitting.first?.value[method.lowercased()]
    }

    private func body(_ answer: Answer, _ content: [String: JSON]) -> [String] {
        let type = answer.headers[.contentType]?.prefix { $0 != ";" }.description
        guard !content.isEmpty else { return answer.body.isEmpty ? [] : ["the description knows of no body"] }
        guard let type, let described = content[type] else {
            return ["the description has no body of type \(type ?? "none")"]
        }
        guard type == "application/json", let schema = described["schema"] else { return [] }
        guard let value = try? JSONDecoder().decode(JSON.self, from: answer.body) else {
            return ["the body is no JSON"]
        }
        return faults(value, schema, "body")
    }

    private func resolved(_ value: JSON) -> JSON {
        guard let path = value["$ref"]?.text else { return value }
        return path.split(separator: "/").dropFirst().reduce(root) { $0[String($1)] ?? .null }
    }

    /// Where a value is not as its schema says. A key that the schema lacks is one.
    private func faults(_ value: JSON, _ reference: JSON, _ place: String) -> [String] {
        let schema = resolved(reference)
        let types = schema["type"].map { $0.list?.compactMap(\.text) ?? [$0.text ?? ""] } ?? []
        guard !Set(types).isDisjoint(with: value.types) else {
            return ["\(place) is \(value.types[0]) and not \(types)"]
        }
        var faults = bounds(value, schema).map { "\(place) \($0)" }
        if let object = value.object, let properties = schema["properties"]?.object {
            faults += (schema["required"]?.list ?? []).compactMap(\.text).filter { object[$0] == nil }.map {
                "\(place).\($0) is missing"
            }
            for (key, value) in object {
                faults +=
                    properties[key].map { self.faults(value, $0, "\(place).\(key)") } ?? [
                        "\(place).\(key) is not described"
                    ]
            }
        }
        if let items = schema["items"] {
            for (index, value) in (value.list ?? []).enumerated() {
                faults += self.faults(value, items, "\(place)[\(index)]")
            }
        }
        return faults
    }

    private func bounds(_ value: JSON, _ schema: JSON) -> [String] {
        var faults: [String] = []
        if let values = schema["enum"]?.list, !values.contains(value) { faults.append("is none of the values") }
        let size = value.number ?? value.text.map { Double($0.count) }
        if let size {
            let least = schema["minimum"]?.number ?? schema["minLength"]?.number ?? -.infinity
            let most = schema["maximum"]?.number ?? schema["maxLength"]?.number ?? .infinity
            if !(least...most).contains(size) { faults.append("is out of bounds") }
        }
        switch (schema["format"]?.text, value.text) {
        case ("uuid", let text?) where UUID(uuidString: text) == nil: faults.append("is no UUID")
        case ("date-time", let text?) where (try? Date(text, strategy: .iso8601)) == nil: faults.append("is no date")
        default: break
        }
        return faults
    }
}
