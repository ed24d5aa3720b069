// Classes that models name, in a library of their own.

import CoreData

public final class Harbor: NSManagedObject {
    public var name: String? {
        get { value(forKey: "name") as? String }
        set { setValue(newValue, forKey: "name") }
    }
}
/// The other module has one too.
public final class Pilot: NSManagedObject {}
public final class Ketch: NSManagedObject {}

public enum Fleet {
    public final class Tug: NSManagedObject {}
    public final class Ferry: NSManagedObject {}
    public struct Reserve {
        public final class Sloop: NSManagedObject {}
    }
}
public enum Dock {
    public final class Crane: NSManagedObject {}
}
public class Crate<Content>: NSManagedObject {}
public final class FishCrate: Crate<Int> {}
public final class Mole: NSManagedObject {}
public final class Café: NSManagedObject {}

private final class Buoy: NSManagedObject {}

public func localClass() -> NSManagedObject.Type {
    final class Gull: NSManagedObject {}
    return Gull.self
}
