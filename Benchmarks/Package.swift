// swift-tools-version: 6.2
// The benchmark programs: one for each contender but plain C, which `Driver/contenders.py` compiles with gcc.
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "OpenCoreData", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        // what all programs share
        .target(name: "CYardstick"),
        .target(name: "Yardstick", dependencies: ["CYardstick"], swiftSettings: strict),

        // contenders
        .systemLibrary(
            name: "CYardstickSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "RawSwift", dependencies: ["Yardstick", "CYardstickSQLite"], swiftSettings: strict),
        .executableTarget(
            name: "GRDBRecords",
            dependencies: ["Yardstick", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: strict),
        .executableTarget(
            name: "OpenCoreDataObjects",
            dependencies: ["Yardstick", .product(name: "CoreData", package: "OpenCoreData")],
            resources: [
                .copy("Models/Casualties.xcdatamodeld"), .copy("Models/Clinic.xcdatamodeld"),
                .copy("Models/Wards.xcdatamodeld"),
                .copy("Versions/ClinicAdded.xcdatamodeld"), .copy("Versions/ClinicRenamed.xcdatamodeld"),
            ],
            swiftSettings: strict),
    ]
)
