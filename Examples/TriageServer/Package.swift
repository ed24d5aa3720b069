// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "TriageServer",
    dependencies: [
        .package(name: "OpenCoreData", path: "../..", traits: ["Log", "Metrics", "Tracing"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: ["FullFoundation"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.3"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.34.1"),
    ],
    targets: [
        .executableTarget(
            name: "TriageServer",
            dependencies: [
                .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "CoreDataLog", package: "OpenCoreData"),
                .product(name: "CoreDataMetrics", package: "OpenCoreData"),
                .product(name: "CoreDataTracing", package: "OpenCoreData"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [.copy("Triage.xcdatamodeld"), .copy("openapi.json")],
            swiftSettings: strict,
            plugins: [.plugin(name: "CoreDataModelPlugin", package: "OpenCoreData")]),
        // Speaks HTTP to the program, which it starts.
        .testTarget(
            name: "TriageServerTests",
            dependencies: [
                "TriageServer",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
            ],
            swiftSettings: strict),
    ]
)
