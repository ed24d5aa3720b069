// Lets programs write `date as CVarArg` and the like for the arguments of a format, as they do on Apple's systems.

import Foundation

// The encodings are never read: formats here take their arguments as they are. One empty word each is a valid encoding.
extension NSObject: @retroactive CVarArg { public var _cVarArgEncoding: [Int] { [0] } }
extension Date: @retroactive CVarArg { public var _cVarArgEncoding: [Int] { [0] } }
extension UUID: @retroactive CVarArg { public var _cVarArgEncoding: [Int] { [0] } }
extension Data: @retroactive CVarArg { public var _cVarArgEncoding: [Int] { [0] } }
extension URL: @retroactive CVarArg { public var _cVarArgEncoding: [Int] { [0] } }
extension Decimal: @retroactive CVarArg { public var _cVarArgEncoding: [Int] { [0] } }
extension Array: @retroactive CVarArg { public var _cVarArgEncoding: [Int] { [0] } }
extension Set: @retroactive CVarArg { public var _cVarArgEncoding: [Int] { [0] } }
