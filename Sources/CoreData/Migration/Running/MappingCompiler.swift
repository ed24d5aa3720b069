// Takes the expressions of an entity mapping apart, before anything is written.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// Makes `MappingValue`s, and refuses what could not be evaluated.
struct MappingCompiler {
    let mapping: String
    let source: NSEntityDescription?
    let destination: NSEntityDescription?
    let policy: NSEntityMigrationPolicy.Type
    let mappings: Set<String>
    /// What is being compiled, in words.
    var what = "source expression"

    /// - Throws: 134170 for a function that the policy's class does not declare; 134110 for a variable, a key, a function or a mapping
    ///   that there is not.
    func value(_ expression: NSExpression) throws -> MappingValue {
        if let value = try own(expression) { return value }
        if let name = expression.variableName {
            throw unknown(name)
        }
        if expression.expressionType == .constantValue { return .constant(expression.constantValue) }
        var parts: [MappingExpression.Part] = []
        // Those of subqueries, which come before their conditions.
        var variables: Set<String> = []
        let rest = try expression.replacing { part in
            if part.expressionType == .subquery { variables.insert(part.variable) }
            if let name = part.pathOfTarget?.target.variableName, variables.contains(name) { return nil }
            guard let value = try own(part) else { return nil }
            let name = "mapping.\(parts.count)"
            parts.append(MappingExpression.Part(variable: name, value: value, slot: slot(of: value)))
            return NSExpression(forVariable: name)
        }
        do { try rest.checkEvaluation() } catch { throw wrong("cannot be evaluated: \(error)") }
        return .expression(MappingExpression(rest, parts))
    }

    /// nil for what the language of expressions computes itself.
    private func own(_ expression: NSExpression) throws -> MappingValue? {
        if let name = expression.variableName { return MappingVariable(rawValue: name).map { .variable($0) } }
        if let (target, path) = expression.pathOfTarget {
            guard let value = try own(target) else {
                if let name = target.variableName { throw unknown(name) }
                return nil
            }
            if case .variable(let variable) = value { try check(path, of: variable) }
            return .path(value, path.joined(separator: "."))
        }
        if let (target, name, arguments) = expression.method,
            let variable = target.variableName.flatMap(MappingVariable.init)
        {
            return try call(name, on: variable, arguments)
        }
        if let (request, context, countOnly) = expression.fetchParts {
            return .fetch(request: try value(request), context: try value(context), countOnly: try value(countOnly))
        }
        return nil
    }

    /// The slot of `$source.name` whose cell predicates see as it is.
    private func slot(of value: MappingValue) -> Int? {
        guard case .path(.variable(.source), let path) = value, let entity = source?.resolved,
            case .slot(let slot)? = entity.places[path], entity.slots[slot].composite == nil
        else { return nil }
        switch entity.slots[slot].kind {
        case .int, .double, .float, .date, .text, .uuid: return slot
        case .bool, .decimal, .uri, .data, .externalData, .transformable, .toOne, .entityTag: return nil
        }
    }

    private func call(_ name: String, on variable: MappingVariable, _ arguments: [NSExpression]) throws -> MappingValue
    {
        let values = try arguments.map { try value($0) }
        switch variable {
        case .manager:
            guard let function = ManagerFunction(rawValue: name) else {
                throw wrong(
                    "calls \(name) of the manager, which is none of \(ManagerFunction.allCases.map(\.rawValue).joined(separator: ", "))"
                )
            }
            guard values.count == function.argumentCount else {
                throw wrong("calls \(name) with \(values.count) arguments")
            }
            if function == .destinations || function == .sources, case .constant(let other) = values[0],
                let other = other as? String,
                !mappings.contains(other)
            {
                throw wrong("names the entity mapping \(other), which the mapping model has not")
            }
            if function == .related, case .constant(let other) = values[0], let other = other as? String, let source,
                source.relationshipsByName[other] == nil
            {
                throw wrong("names the relationship \(other), which the source entity \(source.name ?? "") has not")
            }
            return .manager(function, values)
        case .entityPolicy:
            guard let function = policy.functions[name] else {
                throw wrong(
                    "calls \(name) of the policy \(policy), whose table `functions` lacks it. Add it there: methods are not found by name",
                    134170)
            }
            return .policy(function, values)
        case .source, .destination, .entityMapping, .propertyMapping:
            throw wrong(
                "calls \(name) of $\(variable.rawValue); only functions of $manager and $entityPolicy can be called")
        }
    }

    private func check(_ path: [String], of variable: MappingVariable) throws {
        guard let key = path.first, !key.hasPrefix("@") else { return }
        if let keys = variable.keys {
            guard keys.contains(key) else { throw wrong("asks $\(variable.rawValue) for \(key), which it has not") }
            return
        }
        guard var entity = variable == .source ? source : variable == .destination ? destination : nil else { return }
        // As far as relationships lead: what a value answers for is not known.
        for (place, key) in path.enumerated() where key != "self" {
            guard !key.hasPrefix("@"), !["objectID", "entity"].contains(key) else { return }
            if let property = entity.propertiesByName[key] {
                guard let next = (property as? NSRelationshipDescription)?.destinationEntity else { return }
                entity = next
                continue
            }
            // A class may answer for more keys than its entity, and at the end of a relationship there may be a subentity.
            guard ClassSearch.type(named: entity.managedObjectClassName) == NSManagedObject.self,
                place == 0 || entity.subentities.isEmpty
            else { return }
            let asked = (["$" + variable.rawValue] + path[..<place]).joined(separator: ".")
            throw wrong("asks \(asked) for \(key), and the entity \(entity.name ?? "") has no such property")
        }
    }

    private func unknown(_ variable: String) -> CocoaError {
        wrong("names $\(variable), which is none of the variables of a mapping")
    }

    private func wrong(_ why: String, _ code: Int = 134110) -> CocoaError {
        CocoaError.coreData(
            code, "The mapping \(mapping) cannot be carried out: its \(what) \(why). Nothing was written.")
    }
}
