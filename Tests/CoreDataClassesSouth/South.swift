// Classes with names that another library has too.

import CoreData

public final class Pilot: NSManagedObject {}
public final class Ketch: NSManagedObject {}
public final class Ferry: NSManagedObject {}
public enum Port {
    public final class Harbor: NSManagedObject {}
}
public enum Dock {
    public final class Crane: NSManagedObject {}
}
public enum Yard {
    public final class Crane: NSManagedObject {}
}
/// No managed object.
public final class Mole {}
