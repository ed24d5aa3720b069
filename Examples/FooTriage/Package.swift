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
            swiftSettings: strict),
        // The program that README.md shows.
        .executableTarget(
            name: "FirstSteps",
            dependencies: [.product(name: "CoreData", package: "OpenCoreData")],
            swiftSettings: strict),
    ]
)
