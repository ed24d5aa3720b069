// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "FooTriage",
    dependencies: [
        .package(name: "OpenCoreData", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "FooTriage",
            dependencies: [
                .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            // A link to Models/FooTriage.xcdatamodeld, for the plugin alone: the program finds the model in the project, so that a
            // change of it counts without a build.
            exclude: ["FooTriage.xcdatamodeld"],
            swiftSettings: strict,
            plugins: [.plugin(name: "CoreDataModelPlugin", package: "OpenCoreData")]),
        // The program that README.md shows.
        .executableTarget(
            name: "FirstSteps",
            dependencies: [.product(name: "CoreData", package: "OpenCoreData")],
            swiftSettings: strict),
    ]
)
