// A program's model of orders: an ordered to-many, a required to-one, amounts.

import CoreData

public enum Shop {
    public final class Customer: NSManagedObject {
        public var email: String {
            get { value(forKey: "email") as? String ?? "" }
            set { setValue(newValue, forKey: "email") }
        }
        public var orders: [Order] { Array(value(forKey: "orders") as? Set<Order> ?? []) }
    }

    public final class Order: NSManagedObject {
        public var number: Int64 {
            get { value(forKey: "number") as? Int64 ?? 0 }
            set { setValue(newValue, forKey: "number") }
        }
        public var total: Decimal {
            get { (value(forKey: "total") as? NSDecimalNumber)?.decimalValue ?? 0 }
            set { setValue(newValue as NSDecimalNumber, forKey: "total") }
        }
        public var customer: Customer? {
            get { value(forKey: "customer") as? Customer }
            set { setValue(newValue, forKey: "customer") }
        }
        public var lines: [Line] {
            get { (value(forKey: "lines") as? NSOrderedSet)?.array as? [Line] ?? [] }
            set { setValue(NSOrderedSet(array: newValue), forKey: "lines") }
        }
        public func insertIntoLines(_ line: Line, at index: Int) {
            mutableOrderedSetValue(forKey: "lines").insert(line, at: index)
        }
    }

    public final class Line: NSManagedObject {
        public var article: String? {
            get { value(forKey: "article") as? String }
            set { setValue(newValue, forKey: "article") }
        }
        public var pieces: Int16 {
            get { value(forKey: "pieces") as? Int16 ?? 0 }
            set { setValue(newValue, forKey: "pieces") }
        }
        public var order: Order? { value(forKey: "order") as? Order }
    }

    public static let model = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
            <entity name="Customer" representedClassName="Customer" syncable="YES">
                <attribute name="email" attributeType="String" minValueString="3"/>
                <relationship name="orders" optional="YES" toMany="YES" deletionRule="Deny" destinationEntity="Order" \
        inverseName="customer" inverseEntity="Order"/>
            </entity>
            <entity name="Order" representedClassName="Shop.Order" syncable="YES">
                <attribute name="number" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
                <attribute name="total" optional="YES" attributeType="Decimal" defaultValueString="0"/>
                <relationship name="customer" maxCount="1" deletionRule="Nullify" destinationEntity="Customer" \
        inverseName="orders" inverseEntity="Customer"/>
                <relationship name="lines" optional="YES" toMany="YES" deletionRule="Cascade" ordered="YES" destinationEntity="Line" \
        inverseName="order" inverseEntity="Line"/>
            </entity>
            <entity name="Line" representedClassName=".Line" syncable="YES">
                <attribute name="article" optional="YES" attributeType="String"/>
                <attribute name="pieces" attributeType="Integer 16" minValueString="1" defaultValueString="1" usesScalarValueType="YES"/>
                <relationship name="order" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Order" \
        inverseName="lines" inverseEntity="Order"/>
            </entity>
        </model>
        """
}
