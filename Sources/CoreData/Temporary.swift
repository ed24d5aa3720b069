import CoreDataValues
import Foundation
protocol KeyValueCoding {}
extension NSPredicate { func bridged(_ f: (Any) throws -> Value?) throws -> Predicate { .constant(true) } }
extension NSSortDescriptor { var sortTerm: SortTerm? { nil } }
struct Evaluator { init(_ p: Predicate) throws {}; func matches(_ s: any EvaluationSource, variables: [String: Operand]) -> Bool { true } }
extension SortTerm { func compare(_ a: Value, _ b: Value) -> ComparisonResult { .orderedSame } }
extension Predicate { var followsRelationships: Bool { false } }
struct SQLiteOptions { var isReadOnly = false; var ignoresVersionHashes = false; var timeout = 5.0; var pragmas: [String: String] = [:]; var observer: StatementObserver? }
func SQLiteStore(url: URL, schema: Schema, configuration: String?, options: SQLiteOptions) throws -> any RowStore { fatalError() }
func MemoryStore(schema: Schema, configuration: String?, uuid: String) throws -> any RowStore { fatalError() }
extension Value { var any: Any? { nil } }
extension RowBatch { var keys: [RowKey] { [] } }
extension RowKey { func inStore(_ s: UInt16) -> ObjectKey { ObjectKey(number: number, entity: entity, store: s) } }
enum ModelFile { static func load(_ u: URL) throws -> SchemaDraft { fatalError() } }
