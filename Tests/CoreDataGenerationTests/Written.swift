// What stands beside the classes that the build makes of the two models here: written by hand.

import CoreData

/// Its accessors are generated, the class is not.
public class Sprain: NSManagedObject {}

public enum Urgency: Int16 { case minor = 1, delayed = 2 }

public enum Rigging: Int16 { case gaff = 1, bermuda = 2 }
public enum Ensign: String { case red, blue }
