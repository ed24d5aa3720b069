// Where the value of one property comes from.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// Says how a property of a destination entity is filled.
///
/// In the value expression `$source` is the object as it was, `$destination` the new one, and `$manager`, `$entityMapping`, `$propertyMapping`
/// and `$entityPolicy` are what they say; see `NSEntityMigrationPolicy`. Without an expression the property keeps its default value.
open class NSPropertyMapping: NSObject, KeyValueCoding {
    /// The name of the property in the destination entity.
    open var name: String?
    open var valueExpression: NSExpression?
    open var userInfo: [AnyHashable: Any]?

    public override init() { super.init() }

    convenience init(_ name: String, _ expression: NSExpression?) {
        self.init()
        self.name = name
        valueExpression = expression
    }

    /// Its own properties by name, as value expressions ask for them; nil for another key.
    open func value(forKey key: String) -> Any? {
        switch key {
        case "name": name
        case "valueExpression": valueExpression
        case "userInfo": userInfo.map { NSDictionary(dictionary: $0) }
        default: nil
        }
    }

    open func setValue(_ value: Any?, forKey key: String) {
        misuse("The \(key) of a property mapping is set by its property, not by key.")
    }
}
