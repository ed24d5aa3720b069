// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

/// Tests of the object graph, a target a subject.
let objectTests: [Target] = [
    "FaultTests",
    "RelationshipTests",
    "AttributeTests",
    "DerivationTests",
    "ConflictTests",
    "ChildContextTests",
    "StackTests",
    "ConcurrencyTests",
    "LifeCycleTests",
    "ClassTests",
    "FetchTests",
    "MigrationTests",
    "TypedQueryTests",
    "MappingTests",
    "HistoryTests",
].map { name in
    .testTarget(
        name: name,
        dependencies: [
            "CoreData", "CoreDataValues", "CoreDataSQLite", "CCoreDataSQLite", "CoreDataTestSupport", "CoreDataSeeds",
        ]
            + (name == "MappingTests" ? ["CCoreDataHeap", "CoreDataModelFile"] : [])
            + (name == "ConcurrencyTests"
                ? ["CCoreDataRuntime", "CoreDataCallSites", "CoreDataScript", "CoreDataAsyncMain", "CoreDataStress"]
                : [])
            + (["HistoryTests", "MigrationTests"].contains(name) ? ["CoreDataWriter"] : [])
            + (name == "StackTests" ? ["CoreDataAgreement"] : [])
            + (name == "TypedQueryTests" ? ["CoreDataOperators", "CoreDataQueries"] : [])
            + (name == "ClassTests"
                ? ["CoreDataClassesNorth", "CoreDataClassesSouth", "CoreDataClassesProgram", "CoreDataForeign"] : []),
        exclude: name == "MappingTests" ? ["make-cdm.py"] : [],
        swiftSettings: strict)
}

let package = Package(
    name: "OpenCoreData",
    products: [
        .library(name: "CoreData", targets: ["CoreData", "CoreDataOperators"]),
        .library(name: "CoreDataLog", targets: ["CoreDataLog"]),
        .library(name: "CoreDataMetrics", targets: ["CoreDataMetrics"]),
        .library(name: "CoreDataTracing", targets: ["CoreDataTracing"]),
        // What is found in models and made of them, for tools.
        .library(name: "CoreDataModelTools", targets: ["CoreDataModelTools"]),
        .plugin(name: "CoreDataModelPlugin", targets: ["CoreDataModelPlugin"]),
        .plugin(name: "GenerateModelClasses", targets: ["GenerateModelClasses"]),
    ],
    // Each turns one product on. Without its trait a product's package is not even resolved.
    traits: [
        .trait(name: "Log", description: "CoreDataLog writes to swift-log."),
        .trait(name: "Metrics", description: "CoreDataMetrics counts and times with swift-metrics."),
        .trait(name: "Tracing", description: "CoreDataTracing makes spans of swift-distributed-tracing."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.3"),
    ],
    targets: [
        // C libraries and the C files of ours
        .systemLibrary(
            name: "CCoreDataSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CCoreDataXML", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .target(name: "CCoreDataRuntime"),
        .target(name: "CCoreDataLog", dependencies: ["CCoreDataSQLite"]),

        // values
        .target(name: "CoreDataValues", swiftSettings: strict),
        .target(
            name: "CoreDataModelFile", dependencies: ["CoreDataValues", "CCoreDataXML"],
            swiftSettings: strict),

        // stores
        .target(name: "CoreDataSQL", dependencies: ["CoreDataValues"], swiftSettings: strict),
        .target(
            name: "CoreDataSQLite",
            dependencies: ["CoreDataValues", "CoreDataSQL", "CCoreDataSQLite", "CCoreDataLog", "CCoreDataRuntime"],
            swiftSettings: strict),

        // objects
        .target(
            name: "CoreDataFoundation", dependencies: ["CoreDataValues", "CCoreDataRuntime"], swiftSettings: strict),
        .target(
            name: "CoreData",
            dependencies: [
                "CCoreDataRuntime", "CoreDataValues", "CoreDataModelFile", "CoreDataSQL", "CoreDataSQLite",
                "CoreDataFoundation", "CoreDataCallSites",
            ],
            swiftSettings: strict),

        .target(name: "CoreDataOperators", dependencies: ["CoreData", "CoreDataFoundation"], swiftSettings: strict),

        // what operators see
        .target(name: "CoreDataCallSites", swiftSettings: strict),
        .target(
            name: "CoreDataLog",
            dependencies: [
                "CoreData", "CoreDataCallSites",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Log"])),
            ],
            swiftSettings: strict),
        .target(
            name: "CoreDataMetrics",
            dependencies: [
                "CoreData", .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
            ],
            swiftSettings: strict),
        .target(
            name: "CoreDataTracing",
            dependencies: [
                "CoreData",
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
            ],
            swiftSettings: strict),

        // classes made from models
        .target(
            name: "CoreDataGeneration", dependencies: ["CoreDataModelFile", "CoreDataValues"], swiftSettings: strict),
        .target(
            name: "CoreDataModelTools", dependencies: ["CoreDataGeneration", "CoreDataModelFile", "CoreDataValues"],
            swiftSettings: strict),
        .executableTarget(name: "CoreDataModelTool", dependencies: ["CoreDataGeneration"], swiftSettings: strict),
        .plugin(name: "CoreDataModelPlugin", capability: .buildTool(), dependencies: ["CoreDataModelTool"]),
        .plugin(
            name: "GenerateModelClasses",
            capability: .command(
                intent: .custom(
                    verb: "generate-model-classes",
                    description: "Writes the classes of a package's models into its sources."),
                permissions: [.writeToPackageDirectory(reason: "The classes are written beside their models.")]),
            dependencies: ["CoreDataModelTool"]),

        // tests
        .testTarget(
            name: "CoreDataGenerationTests",
            dependencies: [
                "CoreData", "CoreDataGeneration", "CoreDataModelFile", "CoreDataValues", "CoreDataSeeds",
            ],
            resources: [.copy("AsXcode/Clinic.xcdatamodeld"), .copy("AsSwift/Harbor.xcdatamodeld")],
            swiftSettings: strict, plugins: ["CoreDataModelPlugin"]),
        .testTarget(
            name: "CoreDataValuesTests", dependencies: ["CoreDataValues", "CoreDataSeeds"], swiftSettings: strict),
        .testTarget(
            name: "CoreDataModelFileTests", dependencies: ["CoreDataModelFile", "CoreDataValues", "CoreDataSeeds"],
            swiftSettings: strict),
        .testTarget(
            name: "CoreDataSQLiteTests",
            dependencies: [
                "CoreData", "CoreDataSQLite", "CoreDataSQL", "CoreDataValues", "CCoreDataSQLite", "CCoreDataLog",
                "CCoreDataHeap", "CoreDataSeeds", "CoreDataTestSupport",
            ],
            exclude: ["Dialects/Statements.sqlite.txt", "Dialects/Statements.postgres.txt"],
            swiftSettings: strict),
        .testTarget(
            name: "CoreDataFoundationTests", dependencies: ["CoreDataFoundation", "CoreDataValues", "CoreDataSeeds"],
            swiftSettings: strict),
        .testTarget(
            name: "CoreDataTests",
            dependencies: [
                "CoreData", "CoreDataValues", "CoreDataSQLite", "CCoreDataSQLite", "CoreDataTestSupport",
                "CoreDataVictim", "CoreDataOracle", "CoreDataSeeds",
            ],
            swiftSettings: strict),
        // Random numbers that come again with their seed, property lists put together byte by byte, and where files of others lie.
        .target(name: "CoreDataSeeds", path: "Tests/CoreDataSeeds", swiftSettings: strict),
        // The folders, files of SQLite, models and stacks that tests share.
        .target(
            name: "CoreDataTestSupport",
            dependencies: ["CoreData", "CoreDataValues", "CCoreDataSQLite", "CCoreDataUnchecked"],
            path: "Tests/CoreDataTestSupport", swiftSettings: strict),
        // Random sequences on contexts against a reference; also as a program, for long searches in a release build.
        .target(
            name: "CoreDataOracle", dependencies: ["CoreData", "CoreDataSeeds", "CoreDataTestSupport"],
            path: "Tests/CoreDataOracle", swiftSettings: strict),
        .executableTarget(
            name: "CoreDataOracleRun", dependencies: ["CoreData", "CoreDataOracle"], path: "Tests/CoreDataOracleRun",
            swiftSettings: strict),
        // Random models, rows and predicates, which all stores and the objects answer alike; also as a program, for long runs.
        .target(
            name: "CoreDataAgreement",
            dependencies: ["CoreData", "CoreDataValues", "CoreDataSeeds", "CoreDataTestSupport"],
            path: "Tests/CoreDataAgreement", swiftSettings: strict),
        .executableTarget(
            name: "CoreDataAgreementRun", dependencies: ["CoreDataAgreement"], path: "Tests/CoreDataAgreementRun",
            swiftSettings: strict),
        // Switches the check of queues off in every process it is linked into.
        .target(
            name: "CCoreDataUnchecked", dependencies: ["CCoreDataRuntime"], path: "Tests/CCoreDataUnchecked"),
        // How much memory a process has; and many rows at once, for long runs in a release build.
        .target(name: "CCoreDataHeap", path: "Tests/CCoreDataHeap"),
        .executableTarget(
            name: "CoreDataSetRun", dependencies: ["CoreData", "CoreDataSQLite", "CoreDataValues", "CCoreDataHeap"],
            path: "Tests/CoreDataSetRun",
            swiftSettings: strict),
        // How long stores of one version of a package take to be refused by another.
        .executableTarget(
            name: "CoreDataRefusalRun", dependencies: ["CoreData"], path: "Tests/CoreDataRefusalRun",
            swiftSettings: strict),
        // A plain script and an async main, with the check of queues as programs have it.
        .executableTarget(
            name: "CoreDataScript", dependencies: ["CoreData"], path: "Tests/CoreDataScript", swiftSettings: strict),
        .executableTarget(
            name: "CoreDataAsyncMain", dependencies: ["CoreData"], path: "Tests/CoreDataAsyncMain",
            swiftSettings: strict),
        // Classes that models name, in two libraries and a program.
        .target(
            name: "CoreDataClassesNorth", dependencies: ["CoreData"], path: "Tests/CoreDataClassesNorth",
            swiftSettings: strict),
        .target(
            name: "CoreDataClassesSouth", dependencies: ["CoreData"], path: "Tests/CoreDataClassesSouth",
            swiftSettings: strict),
        .executableTarget(
            name: "CoreDataClassesProgram", dependencies: ["CoreData", "CoreDataClassesNorth", "CoreDataClassesSouth"],
            path: "Tests/CoreDataClassesProgram", swiftSettings: strict),
        // Models with their classes, as programs have them.
        .target(
            name: "CoreDataForeign", dependencies: ["CoreData"], path: "Tests/CoreDataForeign", swiftSettings: strict),
        // A predicate builder of another package, with operators of its own.
        .target(
            name: "CoreDataQueries", dependencies: ["CoreData"], path: "Tests/CoreDataQueries", swiftSettings: strict),
        // Eight contexts over one store; also as a program, for long runs in a release build and under the sanitizers.
        .target(
            name: "CoreDataStress", dependencies: ["CoreData", "CoreDataSeeds"], path: "Tests/CoreDataStress",
            swiftSettings: strict),
        .executableTarget(
            name: "CoreDataStressRun", dependencies: ["CoreDataStress"], path: "Tests/CoreDataStressRun",
            swiftSettings: strict),
        // The process that durability tests kill.
        .executableTarget(
            name: "CoreDataVictim",
            dependencies: ["CoreData", "CoreDataSQLite", "CoreDataValues", "CoreDataTestSupport"],
            path: "Tests/CoreDataVictim",
            swiftSettings: strict),
        // Writes to a store that tests have open.
        .executableTarget(
            name: "CoreDataWriter", dependencies: ["CoreData", "CoreDataSeeds", "CoreDataTestSupport"],
            path: "Tests/CoreDataWriter",
            swiftSettings: strict),
        .testTarget(name: "ExampleTests", dependencies: ["CoreDataTestSupport"], swiftSettings: strict),
    ] + objectTests
)

// A build that needs few of the tests names them: `OPENCOREDATA_TESTS=ConcurrencyTests,ChildContextTests`.
if let named = Context.environment["OPENCOREDATA_TESTS"] {
    let wanted = named.split(separator: ",").map(String.init)
    package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}
