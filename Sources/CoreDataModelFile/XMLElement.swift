// Pieces of an XML document, each with its place in the file.

import CoreDataValues

/// One attribute of an element; its place is that of its name.
struct XMLAttribute {
    var name: String
    var value: String
    var location: SourceLocation
}

/// One element with its children; its place is that of its `<`.
struct XMLElement {
    var name: String
    var attributes: [XMLAttribute]
    var children: [XMLElement] = []
    var location: SourceLocation
}
