// What each element and attribute comes to.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataModelFile

@Suite("Reading a model")
struct ReadingTests {
    private static func attribute(_ text: String) throws -> (Attribute, [SchemaWarning]) {
        let draft = try draft("<model><entity name=\"E\"><attribute name=\"a\" \(text)/></entity></model>")
        return (try #require(draft.entities.first?.attributes.first), draft.warnings)
    }

    @Test(
        "A default is read by its type",
        arguments: [
            ("attributeType=\"Integer 16\" defaultValueString=\"-7\"", Value.int(-7)),
            ("attributeType=\"Integer 64\" defaultValueString=\"9223372036854775807\"", .int(.max)),
            ("attributeType=\"Boolean\" defaultValueString=\"YES\"", .bool(true)),
            ("attributeType=\"Boolean\" defaultValueString=\"0\"", .bool(false)),
            ("attributeType=\"Double\" defaultValueString=\"1.5e3\"", .double(1500)),
            ("attributeType=\"Float\" defaultValueString=\"0.0\"", .double(0)),
            (
                "attributeType=\"Decimal\" defaultValueString=\"12.25\"",
                .decimal(Decimal(string: "12.25") ?? 0)
            ),
            ("attributeType=\"String\" defaultValueString=\"\"", .text("")),
            ("attributeType=\"String\" defaultValueString=\" a &lt; b \"", .text(" a < b ")),
            ("attributeType=\"Date\" defaultDateTimeInterval=\"-978285600\"", .date(-978_285_600)),
            (
                "attributeType=\"URI\" defaultValueString=\"https://example.org/\"",
                .uri("https://example.org/")
            ),
            ("attributeType=\"Integer 32\"", .null),
        ])
    func defaults(text: String, value: Value) throws {
        let (attribute, warnings) = try Self.attribute(text)
        #expect(attribute.defaultValue == value)
        #expect(warnings.isEmpty)
    }

    @Test(
        "What Xcode leaves behind when a type is changed is read with a warning",
        arguments: [
            ("attributeType=\"Integer 32\" defaultValueString=\"0.0\"", Value.int(0)),
            ("attributeType=\"Integer 16\" defaultValueString=\"NO\"", .int(0)),
            ("attributeType=\"Boolean\" defaultValueString=\"0.0\"", .bool(false)),
            ("attributeType=\"Binary\" defaultValueString=\"\"", .null),
            ("attributeType=\"Date\" defaultValueString=\"0\"", .null),
            ("attributeType=\"Date\" minValueString=\"12/4/2013\"", .null),
            ("attributeType=\"String\" minDateTimeInterval=\"1\"", .null),
            ("attributeType=\"String\" composite=\"C\" futureFlag=\"YES\"", .null),
        ])
    func leftovers(text: String, value: Value) throws {
        let (attribute, warnings) = try Self.attribute(text)
        #expect(attribute.defaultValue == value)
        #expect(warnings.count == 1)
        #expect(warnings.first?.entity == "E" && warnings.first?.property == "a")
    }

    @Test("Absent flags mean no, and every written one is read")
    func flags() throws {
        let (plain, _) = try Self.attribute("attributeType=\"String\"")
        #expect(
            !plain.isOptional && !plain.isTransient && !plain.isIndexed && plain.usesScalarValueType == nil)
        let (full, warnings) = try Self.attribute(
            """
            attributeType="Transformable" optional="YES" transient="NO" indexed="YES" syncable="YES"
            allowsExternalBinaryDataStorage="YES" preserveAfterDeletion="YES" allowsCloudEncryption="YES"
            spotlightIndexingEnabled="YES" storedInTruthFile="YES" usesScalarValueType="NO"
            valueTransformerName="T" customClassName="[String]" elementID="old" versionHashModifier="m"
            """)
        #expect(warnings.isEmpty)
        #expect(
            full.isOptional && !full.isTransient && full.isIndexed && full.allowsExternalBinaryDataStorage)
        #expect(full.preservesValueInHistoryOnDeletion && full.allowsCloudEncryption)
        #expect(
            full.isIndexedBySpotlight && full.isStoredInExternalRecord && full.usesScalarValueType == false)
        #expect(full.valueTransformerName == "T" && full.customClassName == "[String]")
        #expect(full.renamingIdentifier == "old" && full.versionHashModifier == "m")
    }

    @Test("Bounds are values for numbers and dates, and lengths for strings")
    func bounds() throws {
        let (number, _) = try Self.attribute(
            "attributeType=\"Integer 16\" minValueString=\"1\" maxValueString=\"9\"")
        #expect(number.minimum == .int(1) && number.maximum == .int(9) && number.minimumLength == nil)
        let (text, _) = try Self.attribute(
            "attributeType=\"String\" minValueString=\"1\" maxValueString=\"9\" regularExpressionString=\"\\d{13}\""
        )
        #expect(
            text.minimumLength == 1 && text.maximumLength == 9 && text.minimum == nil
                && text.pattern == "\\d{13}")
        let (date, _) = try Self.attribute(
            "attributeType=\"Date\" minDateTimeInterval=\"1\" maxDateTimeInterval=\"2.5\"")
        #expect(date.minimum == .date(1) && date.maximum == .date(2.5))
        let (derived, _) = try Self.attribute(
            "attributeType=\"Integer 64\" derived=\"YES\" derivationExpression=\"b.@count\"")
        #expect(derived.derivationExpression == "b.@count" && derived.isReadOnly)
    }

    @Test("maxCount decides between to-one and to-many, and what differs from it is warned of")
    func counts() throws {
        func relationship(_ text: String) throws -> (Relationship, Int) {
            let draft = try draft(
                "<model><entity name=\"E\"><relationship name=\"r\" destinationEntity=\"E\" \(text)/></entity></model>"
            )
            return (try #require(draft.entities.first?.relationships.first), draft.warnings.count)
        }
        for (text, maximum, isToMany, warnings) in [
            ("", 1, false, 0), ("maxCount=\"1\"", 1, false, 0), ("toMany=\"YES\"", 0, true, 0),
            ("toMany=\"YES\" maxCount=\"10\"", 10, true, 0), ("toMany=\"YES\" maxCount=\"1\"", 1, false, 1),
            ("maxCount=\"5\"", 5, true, 1),
        ] {
            let (found, count) = try relationship(text)
            #expect(found.maxCount == maximum && found.isToMany == isToMany && count == warnings, "\(text)")
        }
        let (full, _) = try relationship(
            """
            minCount="3" maxCount="20" toMany="YES" ordered="YES" optional="YES" transient="YES" indexed="YES"
            deletionRule="No Action" inverseName="r" inverseEntity="E" renamingIdentifier="old"
            """)
        #expect(
            full.minCount == 3 && full.maxCount == 20 && full.isOrdered && full.isOptional && full.isTransient
        )
        #expect(full.deleteRule == .noAction && full.inverseName == "r" && full.inverseEntityName == "E")
        #expect(full.renamingIdentifier == "old" && full.isIndexed)
    }

    @Test("Entities, indexes, constraints, templates, configurations and composites are read whole")
    func wholeModel() throws {
        let draft = try draft(Self.whole)
        #expect(draft.warnings == [])
        let entity = try #require(draft.entities.first)
        #expect(entity.className == ".Thing" && entity.isAbstract && entity.renamingIdentifier == "Old")
        #expect(
            entity.versionHashModifier == "v" && entity.codeGeneration == "class"
                && entity.userInfo == ["k": "v"])
        #expect(entity.uniquenessConstraints == [["b", "a"], ["a"]])
        #expect(entity.indexes.map(\.name) == ["byA", "compoundIndex", "compoundIndex1"])
        #expect(entity.indexes.first?.partialPredicate == "a != nil")
        #expect(entity.indexes.first?.elements.map(\.isAscending) == [false, true])
        #expect(entity.indexes.first?.elements.last?.expression == "a.length")
        #expect(entity.indexes.last?.elements.map(\.property) == ["b"])
        let fetched = try #require(entity.fetchedProperties.first)
        #expect(fetched.isOptional && fetched.request.predicate == "a == $FETCH_SOURCE.a")
        let template = try #require(draft.fetchTemplates.first)
        #expect(template.resultType == 2 && template.fetchLimit == 5 && template.fetchBatchSize == 20)
        #expect(
            !template.includesSubentities && !template.includesPropertyValues
                && !template.includesPendingChanges)
        #expect(!template.returnsObjectsAsFaults && template.returnsDistinctResults)
        #expect(draft.configurations == ["Cloud": ["Thing"]] && draft.cloudKitConfigurations == ["Cloud"])
        #expect(draft.composites.first?.attributes.map(\.name) == ["lat", "long"])
        #expect(
            draft.versionIdentifiers == ["1.0"] && draft.usedWithCloudKit && draft.sourceLanguage == "Swift")
        #expect(entity.location == SourceLocation(path: "M", line: 3, column: 5))
        #expect(entity.attributes.last?.location == SourceLocation(path: "M", line: 9, column: 9))
        _ = try Schema(checking: draft)
    }

    private static let whole = """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift" usedWithCloudKit="YES" userDefinedModelVersionIdentifier="1.0">
            <entity name="Thing" representedClassName=".Thing" isAbstract="YES" syncable="YES" codeGenerationType="class"
                elementID="Old" versionHashModifier="v">
                <attribute name="a" attributeType="String">
                    <userInfo><entry key="x" value="1"/></userInfo>
                </attribute>
                <!-- <attribute name="not this"/> -->
                <attribute name="b" attributeType="Integer 16"/>
                <fetchedProperty name="f" optional="YES">
                    <fetchRequest name="fetchedPropertyFetchRequest" entity="Thing" predicateString="a == $FETCH_SOURCE.a"/>
                </fetchedProperty>
                <fetchIndex name="byA" partialIndexPredicate="a != nil">
                    <fetchIndexElement property="a" type="Binary" order="descending"/>
                    <fetchIndexElement expression="a.length" type="Binary" order="ascending"/>
                </fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint><constraint value="b"/><constraint value="a"/></uniquenessConstraint>
                    <uniquenessConstraint><constraint value="a"/></uniquenessConstraint>
                </uniquenessConstraints>
                <compoundIndexes>
                    <compoundIndex><index value="a"/><index value="b"/></compoundIndex>
                    <compoundIndex><index value="b"/></compoundIndex>
                </compoundIndexes>
                <userInfo><entry key="k" value="v"/></userInfo>
            </entity>
            <fetchRequest name="t" entity="Thing" predicateString="a == $a" resultType="2" fetchLimit="5" fetchBatchSize="20"
                includeSubentities="NO" includePropertyValues="NO" includesPendingChanges="NO" returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
            <configuration name="Cloud" usedWithCloudKit="YES"><memberEntity name="Thing"/></configuration>
            <composite name="Point"><attribute name="lat" attributeType="Double"/><attribute name="long" attributeType="Double"/></composite>
            <elements><element name="Thing" positionX="0" positionY="0" width="0" height="0"/></elements>
        </model>
        """

    @Test("What is unknown has no effect, and is said with its place")
    func unknown() throws {
        let draft = try draft(
            "<model newFlag=\"YES\">\n<entity name=\"E\" odd=\"1\">\n <novelty/>stray</entity><extra/></model>"
        )
        let texts = draft.warnings.map(\.description)
        #expect(texts.count == 5)
        #expect(texts.contains("M:1:8: warning: newFlag=\"YES\" of <model> is unknown and has no effect"))
        #expect(texts.contains("M:2:18: warning: odd=\"1\" of <entity> is unknown and has no effect"))
        #expect(texts.contains("M:3:2: warning: <novelty> in <entity> is unknown and has no effect"))
        #expect(texts.contains("M:3:26: warning: <extra> in <model> is unknown and has no effect"))
    }
}
