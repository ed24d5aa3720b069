import CoreDataValues
import Foundation
protocol KeyValueCoding {}
extension NSPredicate { func bridged(_ f: (Any) throws -> Value?) throws -> Predicate { .constant(true) } }
extension NSSortDescriptor { var sortTerm: SortTerm? { nil } }
struct Evaluator { init(_ p: Predicate) throws {}; func matches(_ s: any EvaluationSource, variables: [String: Operand]) -> Bool { true } }
extension SortTerm { func compare(_ a: Value, _ b: Value) -> ComparisonResult { .orderedSame } }
extension Predicate { var followsRelationships: Bool { false } }
func MemoryStore(schema: Schema, configuration: String?, uuid: String) throws -> any RowStore { fatalError() }
extension RowBatch { var keys: [RowKey] { [] } }
extension RowKey { func inStore(_ s: UInt16) -> ObjectKey { ObjectKey(number: number, entity: entity, store: s) } }
