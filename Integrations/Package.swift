// swift-tools-version: 6.2
import PackageDescription

// Tests of the products that need other packages. Beside the package, which so has no dependency for who asks for none.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "Integrations",
    dependencies: [
        .package(name: "OpenCoreData", path: "..", traits: ["Log", "Metrics", "Tracing"]),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.3"),
    ],
    targets: [
        .target(
            name: "IntegrationSupport", dependencies: [.product(name: "CoreData", package: "OpenCoreData")],
            swiftSettings: strict),
        .testTarget(
            name: "CoreDataLogTests",
            dependencies: [
                "IntegrationSupport", .product(name: "CoreDataLog", package: "OpenCoreData"),
                .product(name: "InMemoryLogging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CoreDataMetricsTests",
            dependencies: [
                "IntegrationSupport", .product(name: "CoreDataMetrics", package: "OpenCoreData"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CoreDataTracingTests",
            dependencies: [
                "IntegrationSupport", .product(name: "CoreDataTracing", package: "OpenCoreData"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict),
    ]
)
