// What saves leave in the history.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite("History of saves") struct HistoryTests {
    private let rig = Rig()

    /// The clinic's store, which keeps history, with a patient, a ward, a doctor and two visits.
    private func filled() throws -> (context: NSManagedObjectContext, file: SQLiteFile) {
        try rig.add(options: Rig.tracking)
        return (try rig.filled(), try rig.history())
    }

    private func one(_ entity: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.all(entity).first)
    }

    @Test("12.2 A save is one transaction that says who made it and when, with one change for each object")
    func insert() throws {
        try rig.add(options: Rig.tracking)
        let context = rig.context(author: "desk", name: "import")
        let patients = ["Eve", "Ann"].map { context.make("Patient", ["name": $0]) }
        context.make("Bed", ["number": 7]).setValue(patients[0], forKey: "patient")
        let file = try rig.history()
        #expect(try file.rows("SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT > 16000").isEmpty)
        let before = Date().timeIntervalSinceReferenceDate
        try context.save()
        #expect(try file.transactions() == ["1|desk|import"])
        let bed = try one("Bed", context)
        #expect(
            try file.lastChanges() == (["insert Bed \(bed.row)"] + patients.map { "insert Patient \($0.row)" }).sorted()
        )
        let times = try file.rows("SELECT ZTIMESTAMP FROM ATRANSACTION").compactMap(Double.init)
        #expect(times.count == 1 && times[0] >= before && times[0] <= Date().timeIntervalSinceReferenceDate)
        // The rest as Core Data writes it: no versions, texts apart, what is not known NULL.
        #expect(
            try file.rows(
                "SELECT DISTINCT c.Z_ENT, c.Z_OPT, c.ZCOLUMNS, t.Z_ENT, t.Z_OPT, s.Z_ENT, s.Z_OPT, t.ZAUTHOR, t.ZBUNDLEID, "
                    + "t.ZCONTEXTNAME, t.ZPROCESSID, t.ZQUERYGEN FROM ACHANGE c, ATRANSACTION t, ATRANSACTIONSTRING s")
                == ["16001|-|-|16002|-|16003|-|-|-|-|-|-"])
        let process = ProcessInfo.processInfo.processName
        #expect(
            try file.rows(
                "SELECT p.ZNAME, b.ZNAME IS NOT NULL FROM ATRANSACTION t JOIN ATRANSACTIONSTRING p ON p.Z_PK = t.ZPROCESSIDTS "
                    + "LEFT JOIN ATRANSACTIONSTRING b ON b.Z_PK = t.ZBUNDLEIDTS") == ["\(process)|1"])
        let strings = try #require(try file.rows("SELECT COUNT(*) FROM ATRANSACTIONSTRING").first)
        #expect(
            try file.rows("SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY 1") == [
                "16001|CHANGE|0|3", "16002|TRANSACTION|0|1", "16003|TRANSACTIONSTRING|0|\(strings)",
            ])
        // Texts are written once; an author that is nil is NULL.
        context.transactionAuthor = nil
        patients[0].setValue("Eva", forKey: "name")
        try context.save()
        #expect(try file.transactions() == ["1|desk|import", "2|-|import"])
        #expect(try file.rows("SELECT COUNT(*) FROM ATRANSACTIONSTRING") == [strings])
        #expect(try file.rows("SELECT MIN(Z_PK), MAX(Z_PK), COUNT(*) FROM ACHANGE") == ["1|4|4"])
    }

    // Patient: bed ward | age awake born code fee link name photo tag weight | doctors visits. Ward: code name beds | patients.
    // Doctor: code name | badges patients. Visit: patient | code note.

    @Test("12.2 An update names what changed, and nothing is recorded for values that are equal")
    func update() throws {
        let (context, file) = try filled()
        let patient = try one("Patient", context)
        patient.setValue(41, forKey: "age")
        patient.setValue("Eva", forKey: "name")
        try context.save()
        #expect(try file.lastChanges() == ["update Patient \(patient.row) 2080"])
        let ward = try one("Ward", context)
        ward.setValue(4, forKey: "beds")
        ward.setValue(2, forKey: "code")
        patient.setValue("Eva", forKey: "name")
        try context.save()
        #expect(try file.lastChanges() == ["update Ward \(ward.row) A0"])
        patient.setValue("Eva", forKey: "name")
        try context.save()
        #expect(try file.transactions().count == 3)
    }

    @Test("12.2 A relationship shows on both sides, whether a row holds it, a join table or the members")
    func relationships() throws {
        let (context, file) = try filled()
        let (patient, north) = (try one("Patient", context), try one("Ward", context))
        let south = context.make("Ward", ["name": "South"])
        patient.setValue(south, forKey: "ward")
        try context.save()
        #expect(
            try file.lastChanges() == [
                "insert Ward \(south.row)", "update Patient \(patient.row) 4000", "update Ward \(north.row) 10",
            ])
        let ada = try one("Doctor", context)
        patient.setValue(NSSet(), forKey: "doctors")
        patient.setValue("Eva", forKey: "name")
        try context.save()
        #expect(try file.lastChanges() == ["update Doctor \(ada.row) 10", "update Patient \(patient.row) 0088"])
        let bed = context.make("Bed", ["number": 1])
        try context.save()
        bed.setValue(patient, forKey: "patient")
        try context.save()
        #expect(try file.lastChanges() == ["update Bed \(bed.row) 80", "update Patient \(patient.row) 8000"])
    }

    @Test("12.6 A new order shows on both sides: the owner and the members that moved")
    func order() throws {
        let (context, file) = try filled()
        let patient = try one("Patient", context)
        for note in ["c", "d"] { context.make("Visit", ["note": note]).setValue(patient, forKey: "patient") }
        try context.save()
        let visits = try #require(patient.value(forKey: "visits") as? NSOrderedSet).array
        #expect(visits.count == 4)
        patient.setValue(NSOrderedSet(array: [visits[3], visits[0], visits[1], visits[2]]), forKey: "visits")
        try context.save()
        let moved = try #require(visits[3] as? NSManagedObject)
        #expect(try file.lastChanges() == ["update Patient \(patient.row) 0004", "update Visit \(moved.row) 80"])
        // One more at the end moves nobody.
        let last = context.make("Visit", ["note": "e"])
        last.setValue(patient, forKey: "patient")
        try context.save()
        #expect(try file.lastChanges() == ["insert Visit \(last.row)", "update Patient \(patient.row) 0004"])
    }

    @Test(
        "12.2 A deletion takes along what its rules delete, and keeps the attributes that ask for it as they were stored"
    )
    func delete() throws {
        var draft = Clinic.draft()
        for (entity, names) in [(0, ["name", "tag", "age"]), (1, ["code"])] {
            for index in draft.entities[entity].attributes.indices
            where names.contains(draft.entities[entity].attributes[index].name) {
                draft.entities[entity].attributes[index].preservesValueInHistoryOnDeletion = true
            }
        }
        let rig = Rig(NSManagedObjectModel(draft: draft))
        try rig.add(options: Rig.tracking)
        let (context, file) = (try rig.filled(), try rig.history())
        let (patient, ward, doctor) = (
            try one("Patient", context), try one("Ward", context), try one("Doctor", context)
        )
        let tag = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
        patient.setValue(tag, forKey: "tag")
        patient.setValue(41, forKey: "age")
        ward.setValue(5, forKey: "code")
        try context.save()
        let rows = (patient: patient.row, ward: ward.row, doctor: doctor.row)
        let visits = try context.all("Visit").map(\.row)
        patient.setValue("never stored", forKey: "name")
        context.delete(patient)
        context.delete(ward)
        try context.save()
        #expect(
            try file.lastChanges()
                == (["delete Patient \(rows.patient)", "delete Ward \(rows.ward)", "update Doctor \(rows.doctor) 10"]
                + visits.map { "delete Visit \($0)" }).sorted())
        // In the order of the properties: age, name, tag; a ward has only its code.
        let kept =
            "SELECT quote(ZTOMBSTONE0), quote(ZTOMBSTONE1), quote(ZTOMBSTONE2) FROM ACHANGE WHERE ZCHANGETYPE = 2 "
        let entities = context.persistentStoreCoordinator?.runtime.schema
        let number = { (name: String) in entities?.entity(named: name)?.index.number ?? 0 }
        #expect(
            try file.rows(kept + "AND ZENTITY = \(number("Patient"))") == [
                "41|'Eve'|X'00112233445566778899AABBCCDDEEFF'"
            ])
        #expect(try file.rows(kept + "AND ZENTITY = \(number("Ward"))") == ["5|NULL|NULL"])
        #expect(try file.rows(kept + "AND ZENTITY = \(number("Visit"))") == ["NULL|NULL|NULL", "NULL|NULL|NULL"])
        #expect(try file.rows("SELECT COUNT(*) FROM pragma_table_info('ACHANGE') WHERE name LIKE 'ZTOMB%'") == ["3"])
    }

    @Test("A save that fails leaves no trace in the history, and its number goes to the next one")
    func failed() throws {
        let (context, file) = try filled()
        let other = rig.context(author: "other")
        let theirs = try one("Patient", other)
        theirs.setValue(1, forKey: "age")
        let patient = try one("Patient", context)
        patient.setValue(2, forKey: "age")
        try context.save()
        let history = "SELECT * FROM ATRANSACTION UNION ALL SELECT c.*, 0, 0, 0, 0, 0 FROM ACHANGE c"
        let known = (try file.rows(history), try file.rows("SELECT * FROM Z_PRIMARYKEY"))
        #expect(code { try other.save() } == 133020)
        #expect(try file.rows(history) == known.0)
        #expect(try file.rows("SELECT * FROM Z_PRIMARYKEY") == known.1)
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try other.save()
        #expect(try file.transactions().last == "3|other|-")
        #expect(try file.lastChanges() == ["update Patient \(patient.row) 2000"])
    }

    @Test("An owner that others have changed meanwhile is told as changed, one that is gone is not")
    func touched() throws {
        let (context, file) = try filled()
        let doctor = try one("Doctor", context)
        let other = rig.context(author: "other")
        try one("Doctor", other).setValue("Jo", forKey: "name")
        try other.save()
        let new = context.make("Patient", ["name": "new", "doctors": NSSet(object: doctor)])
        try context.save()
        #expect(try file.lastChanges() == ["insert Patient \(new.row)", "update Doctor \(doctor.row) 10"])
        new.mutableSetValue(forKey: "doctors").remove(doctor)
        let late = rig.context(author: "late")
        late.delete(try one("Doctor", late))
        try late.save()
        try context.save()
        let changes = try file.lastChanges()
        #expect(changes.count == 1 && changes.allSatisfy { $0.hasPrefix("update Patient \(new.row) ") })
    }

    @Test(
        "Contexts of several coordinators write one history: numbers rise with the order of the saves, and none is given twice"
    )
    func together() throws {
        let first = Rig()
        try first.add(options: Rig.tracking)
        let second = Rig(in: first.folder)
        try second.add(options: Rig.tracking)
        let contexts = [
            first.context(author: "a"), first.context(author: "b"), second.context(author: "c"),
            second.context(author: "d"),
        ]
        var expected: [String] = []
        for round in 0..<5 {
            for context in contexts.shuffled() {
                for _ in 0...round { _ = context.make("Doctor", ["name": "x"]) }
                try context.save()
                expected.append("\(expected.count + 1)|\(context.transactionAuthor ?? "")|-")
            }
        }
        let file = try first.history()
        #expect(try file.transactions() == expected)
        #expect(try file.rows("SELECT COUNT(*), MAX(Z_PK), COUNT(DISTINCT ZENTITYPK) FROM ACHANGE") == ["60|60|60"])
        #expect(
            try file.rows("SELECT COUNT(*), COUNT(DISTINCT ZNAME) FROM ATRANSACTIONSTRING").allSatisfy { row in
                let counts = row.split(separator: "|")
                return counts[0] == counts[1]
            })
        #expect(try file.rows("SELECT ZTIMESTAMP FROM ATRANSACTION ORDER BY Z_PK").compactMap(Double.init).count == 20)
    }

    @Test("A large save is one transaction, and a changed to-many among many changed rows names its own row only")
    func large() throws {
        try rig.add(options: Rig.tracking)
        let (context, file) = (rig.context(), try rig.history())
        let ward = context.make("Ward", ["name": "North"])
        let patients = (0..<700).map { context.make("Patient", ["name": "p\($0)"]) }
        try context.save()
        let counts = "SELECT COUNT(*), MAX(Z_PK), COUNT(DISTINCT ZENTITYPK || '-' || ZENTITY) FROM ACHANGE"
        #expect(try file.rows(counts) == ["701|701|701"])
        for patient in patients { patient.setValue(1, forKey: "age") }
        patients[300].setValue(ward, forKey: "ward")
        patients[301].setValue(Set([context.make("Doctor", ["name": "Ada"])]), forKey: "doctors")
        try context.save()
        #expect(
            try file.rows(
                "SELECT hex(ZCOLUMNS), COUNT(*), MAX(ZENTITYPK) FROM ACHANGE WHERE ZCHANGETYPE = 1 GROUP BY 1 ORDER BY 2 DESC, 1"
            )
                == [
                    "2000|698|\(patients[699].row)", "10|1|\(ward.row)", "2008|1|\(patients[301].row)",
                    "6000|1|\(patients[300].row)",
                ])
        for patient in patients { context.delete(patient) }
        try context.save()
        #expect(try file.rows("SELECT COUNT(DISTINCT ZENTITYPK) FROM ACHANGE WHERE ZCHANGETYPE = 2") == ["700"])
        #expect(try file.transactions().count == 3)
    }

    @Test("Without the option nothing is asked of a history and nothing made for one")
    func off() throws {
        let log = StatementLog()
        try rig.add(options: log.options)
        let context = try rig.filled()
        try #require(try context.all("Patient").first).setValue(1, forKey: "age")
        try context.save()
        #expect(try rig.history().keepsHistory == false)
        let statements = log.take()
        #expect(statements.contains { $0.hasPrefix("UPDATE") })
        // The one statement that looks at a file when it is opened lists all tables and names none.
        let touching = statements.filter { $0.contains("ACHANGE") || $0.contains("ATRANSACTION") }
        #expect(touching.isEmpty, "\(touching)")
    }
}
