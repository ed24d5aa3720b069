// What `import CoreData` brings: Foundation, and by name the classes that Foundation lacks on Linux.
//
// A scoped re-export outranks Foundation's unusable stubs of the same name in every client (Decisions/0002).

@_exported import Foundation
@_exported import class CoreDataFoundation.NSComparisonPredicate
@_exported import class CoreDataFoundation.NSCompoundPredicate
@_exported import class CoreDataFoundation.NSExpression
@_exported import class CoreDataFoundation.CodableTransformer
@_exported import class CoreDataFoundation.NSSecureUnarchiveFromDataTransformer
@_exported import class CoreDataFoundation.UndoManager
@_exported import class CoreDataFoundation.ValueTransformer
@_exported import struct CoreDataFoundation.NSValueTransformerName
@_exported import enum CoreDataFoundation.SortSelector
@_exported import protocol CoreDataFoundation.KeyValueCoding
@_exported import let CoreDataFoundation.NSUndoManagerGroupIsDiscardableKey
import CoreDataFoundation
import CoreDataValues

/// Inside the module these names mean ours, not Foundation's macro types.
typealias Predicate = CoreDataValues.Predicate
