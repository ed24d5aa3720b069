// Version hashes: published vectors, and what enters a hash and what does not.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataValues

@Suite("Version hashes")
struct SchemaHashTests {
    @Test(
        "SHA-256 and SHA-512 give known digests, at every edge of a block",
        arguments: [
            (
                "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                    + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
            ),
            (
                "a", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                    + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
            ),
            (
                "a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
                "b0220c772cbf6c1822e2cb38a437d0e1d58772417a4bbb21c961364f8b6143e0"
                    + "5aa6316dca8d1d7b19e16448419076395f6086cb55101fbd6d5497b148e1745f"
            ),
            (
                "a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a",
                "962b64aae357d2a4fee3ded8b539bdc9d325081822b0bfc55583133aab44f18b"
                    + "afe11d72a7ae16c79ce2ba620ae2242d5144809161945f1367f41b3972e26e04"
            ),
            (
                "a", 111, "6374f73208854473827f6f6a3f43b1f53eaa3b82c21c1a6d69a2110b2a79baad",
                "fa9121c7b32b9e01733d034cfc78cbf67f926c7ed83e82200ef8681819692176"
                    + "0b4beff48404df811b953828274461673c68d04e297b0eb7b2b4d60fc6b566a2"
            ),
            (
                "a", 112, "f54353008a2553262ecdc4a34749563ba0950e8b0fc8652780b0a614b99683c1",
                "c01d080efd492776a1c43bd23dd99d0a2e626d481e16782e75d54c2503b5dc32"
                    + "bd05f0f1ba33e568b88fd2d970929b719ecbb152f58f130a407c8830604b70ca"
            ),
            (
                "0123456789", 1000, "4c207598af7a20db0e3334dd044399a40e467cb81b37f7ba05a4f76dcbd8fd59",
                "c443791bea5df40402af0d1978c761ff90e8457dc40444acb9aa0d61e90ba6d3"
                    + "968331c833889c4a882a8e525f65d25f29b0f141fd10143b5de6ddab23d7276e"
            ),
        ])
    func digests(text: String, times: Int, short: String, long: String) {
        let bytes = Array(String(repeating: text, count: times).utf8)
        #expect(Data(SHA256.hash(bytes)).hex == short)
        #expect(Data(SHA512.hash(bytes)).hex == long)
    }

    private static let user: EntityDraft = {
        var petName = Attribute(name: "petName", type: .string)
        petName.isOptional = true
        var user = EntityDraft(name: "User")
        user.attributes = [petName, Attribute(name: "name", type: .string)]
        return user
    }()

    @Test("The vectors of a model that Core Data compiled come out: properties, entity, checksum, digest")
    func vectors() throws {
        #expect(
            Data(VersionHash.hash(Self.user.attributes[1])).hex
                == "8cb9965c0031ac68913984f3110941ad965395be9fd9b17de7be54bc7ad46890")
        #expect(
            Data(VersionHash.hash(Self.user.attributes[0])).hex
                == "3600ceedf50b080f90041365395158784f0deb03bc9acddf1cad607c4fe50742")
        var draft = SchemaDraft()
        draft.entities = [Self.user]
        let schema = try Schema(checking: draft)
        #expect(
            schema.entity(named: "User")?.versionHash.hex
                == "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798")
        #expect(schema.versionChecksum == "u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik=")
        #expect(
            schema.versionHashesDigest
                == "0KLB/FnL8roMcgeszeCxnPnvYqnn4VzB2DpFP6csqrDKzLB6fyG5rrVfjY5DtnQxx4355oWuKFublPf2Jo1UWg==")
    }

    private static func hash(_ change: (inout EntityDraft) -> Void) -> Data? {
        var draft = SchemaDraft()
        var user = user
        var link = Relationship(name: "friends", destinationName: "User")
        link.maxCount = 0
        user.relationships = [link]
        change(&user)
        draft.entities = [user]
        return VersionHash(draft: draft).entityHashes()["User"]
    }

    @Test("What Core Data hashes changes the hash: each of fifteen changes gives another one")
    func changes() {
        let changes: [(inout EntityDraft) -> Void] = [
            { _ in }, { $0.isAbstract = true }, { $0.versionHashModifier = "1" },
            { $0.uniquenessConstraints = [["name"]] }, { $0.uniquenessConstraints = [["name", "petName"]] },
            { $0.attributes[0].isOptional = false }, { $0.attributes[0].isTransient = true },
            { $0.attributes[0].type = .integer16 }, { $0.attributes[0].versionHashModifier = "1" },
            { $0.attributes[0].allowsExternalBinaryDataStorage = true },
            { $0.attributes[1].preservesValueInHistoryOnDeletion = true },
            { $0.relationships[0].maxCount = 5 }, { $0.relationships[0].minCount = 1 },
            { $0.relationships[0].isOrdered = true }, { $0.relationships[0].inverseName = "other" },
        ]
        #expect(Set(changes.map { Self.hash($0) }).count == changes.count)
    }

    @Test("What Core Data leaves out leaves the hash as it is, an inverse of oneself too")
    func constants() {
        let plain = Self.hash { _ in }
        #expect(plain != nil)
        let changes: [(inout EntityDraft) -> Void] = [
            { $0.className = "Other" }, { $0.renamingIdentifier = "Old" }, { $0.userInfo = ["a": "b"] },
            { $0.attributes.reverse() }, { $0.attributes[0].defaultValue = .text("x") },
            { $0.attributes[0].pattern = "a" }, { $0.relationships[0].deleteRule = .cascade },
            { $0.relationships[0].inverseName = "friends" },
            { $0.indexes = [FetchIndex(name: "i", elements: [.init(property: "name")])] },
            {
                var transient = Attribute(name: "zz", type: .undefined)
                transient.isTransient = true
                $0.attributes.append(transient)
            },
        ]
        for (index, change) in changes.enumerated() { #expect(Self.hash(change) == plain, "change \(index)") }
    }

    @Test("Constraints enter sorted, and a cycle of parents does not hang the hash")
    func order() {
        let one = Self.hash { $0.uniquenessConstraints = [["name"], ["petName"]] }
        #expect(one == Self.hash { $0.uniquenessConstraints = [["petName"], ["name"]] })
        #expect(one != Self.hash { $0.uniquenessConstraints = [["name", "petName"]] })
        #expect(Self.hash { $0.parentName = "User" } != nil)
    }
}

extension Data {
    var hex: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}
