// A program's model of vehicles: an abstract entity, inheritance, one-to-one, a transient attribute.

import CoreData

public class Vehicle: NSManagedObject {
    public var plate: String? {
        get { value(forKey: "plate") as? String }
        set { setValue(newValue, forKey: "plate") }
    }
    public var wheels: Int { 0 }
    public var bay: Bay? {
        get { value(forKey: "bay") as? Bay }
        set { setValue(newValue, forKey: "bay") }
    }
}

public final class Car: Vehicle {
    public override var wheels: Int { 4 }
    public var seats: Int16 {
        get { value(forKey: "seats") as? Int16 ?? 0 }
        set { setValue(newValue, forKey: "seats") }
    }
}

public final class Truck: Vehicle {
    public override var wheels: Int { 6 }
    public var load: Double {
        get { value(forKey: "load") as? Double ?? 0 }
        set { setValue(newValue, forKey: "load") }
    }
}

public final class Bay: NSManagedObject {
    public var number: Int32 {
        get { value(forKey: "number") as? Int32 ?? 0 }
        set { setValue(newValue, forKey: "number") }
    }
    public var vehicle: Vehicle? {
        get { value(forKey: "vehicle") as? Vehicle }
        set { setValue(newValue, forKey: "vehicle") }
    }
}

public let garageModel = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
        <entity name="Bay" representedClassName="Bay" syncable="YES">
            <attribute name="number" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES"/>
            <relationship name="vehicle" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Vehicle" \
    inverseName="bay" inverseEntity="Vehicle"/>
        </entity>
        <entity name="Vehicle" representedClassName="Vehicle" isAbstract="YES" syncable="YES">
            <attribute name="plate" attributeType="String"/>
            <relationship name="bay" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Bay" \
    inverseName="vehicle" inverseEntity="Bay"/>
        </entity>
        <entity name="Car" representedClassName="Car" parentEntity="Vehicle" syncable="YES">
            <attribute name="seats" attributeType="Integer 16" defaultValueString="4" usesScalarValueType="YES"/>
        </entity>
        <entity name="Truck" representedClassName="GarageApp.Truck" parentEntity="Vehicle" syncable="YES">
            <attribute name="load" attributeType="Double" defaultValueString="0" usesScalarValueType="YES"/>
        </entity>
    </model>
    """
