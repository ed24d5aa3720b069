import Foundation
import Testing

@testable import CoreDataFoundation

@Suite struct KeyValueCodingTests {
    final class Coded: NSObject, KeyValueCoding {
        var values: [String: Any] = [:]
        func value(forKey key: String) -> Any? { values[key] }
        func setValue(_ value: Any?, forKey key: String) { values[key] = value }
    }

    @Test("An object that codes its own keys is asked and written through them, also along key paths")
    func coded() {
        let inner = Coded()
        let outer = Coded()
        outer.setValue(inner, forKey: "inner")
        outer.setValue(7, forKeyPath: "inner.n")
        #expect(inner.values["n"] as? Int == 7)
        #expect(outer.value(forKeyPath: "inner.n") as? Int == 7)
        #expect(KeyValue.value(of: [inner, inner] as [Any], forKeyPath: "@sum.n") as? Int == 14)
    }

    @Test("Collections and dictionaries answer keys and operators")
    func collections() {
        let rows: NSArray = [["n": 1], ["n": 2], ["n": 2]]
        #expect(rows.value(forKeyPath: "@sum.n") as? Int == 5)
        #expect(rows.value(forKeyPath: "@count") as? Int == 3)
        #expect((rows.value(forKey: "n") as? [Any])?.count == 3)
        #expect((rows.value(forKeyPath: "@distinctUnionOfObjects.n") as? [Any])?.count == 2)
        let dictionary = NSMutableDictionary()
        dictionary.setValue("x", forKeyPath: "k")
        #expect(KeyValue.value(of: dictionary, forKey: "k") as? String == "x")
        #expect(KeyValue.value(of: "four", forKey: "length") as? Int == 4)
    }

    @Test("A dictionary counts its entries, for keys and for predicates, and an object is one")
    func counts() {
        let (plain, foundation): ([String: Any], NSDictionary) = (["a": 1, "b": 2], ["a": 1, "b": 2])
        for dictionary in [plain, foundation] as [Any] {
            #expect(KeyValue.value(of: dictionary, forKeyPath: "@count") as? Int == 2)
            #expect(
                NSPredicate(format: "@count == 1 AND map.@count == 2 AND count:(map) == 2 AND map[SIZE] == 2").evaluate(
                    with: ["map": dictionary]))
            #expect(NSPredicate(format: "@count == 2").evaluate(with: dictionary))
            #expect(NSPredicate(format: "maps.@count == 1").evaluate(with: ["maps": [dictionary]]))
        }
        #expect(NSPredicate(format: "map.@count == 0").evaluate(with: ["map": [String: Any]()]))
        #expect(NSPredicate(format: "one.@count == 1").evaluate(with: ["one": Coded()]))
    }
}
