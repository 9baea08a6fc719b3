// swift-tools-version: 6.2
import PackageDescription

/// The settings of every target. The dependencies between targets are the architecture (docs/architecture.md).
let houseStyle: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Creates a target in one of the rooms under `Sources/`.
func room(_ directory: String, _ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(directory)/\(name)", swiftSettings: houseStyle)
}

/// Creates a target for a C library from Debian, or for one of our headers, with a module map.
func systemLibrary(_ name: String, pkgConfig: String? = nil, package: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/SystemLibraries/\(name)", pkgConfig: pkgConfig,
        providers: package.map { [.apt([$0])] })
}

/// Creates the tests of one target, with the test doubles.
func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies + ["TimeAndRandomness", "ReportedText", "WaypostTestSupport"],
        path: "Tests/\(name)Tests",
        swiftSettings: houseStyle)
}

let package = Package(
    name: "waypost",
    products: [
        .library(name: "Waypost", targets: ["Waypost", "Operations", "FleetEngine", "VehicleAuthorization"]),
        .library(name: "DriverAuthorization", targets: ["DriverAuthorization", "VehicleAuthorization"]),
        .executable(name: "waypost", targets: ["WaypostCommand"]),
    ],
    targets: [
        // Core: pure; no I/O, no C but its mathematics.
        room("Core", "TimeAndRandomness"),
        room("Core", "ReportedText"),
        room("Core", "StrictJSON"),
        room("Core", "HTTPMessages", ["TimeAndRandomness", "ReportedText"]),
        room("Core", "GNSS", ["TimeAndRandomness", "ReportedText", "CMath"]),
        room("Core", "VehicleAuthorization", ["ReportedText", "StrictJSON"]),
        room("Core", "DriverAuthorization", ["ReportedText", "VehicleAuthorization"]),
        room("Core", "FleetEngine", ["TimeAndRandomness", "ReportedText", "StrictJSON", "HTTPMessages"]),
        room(
            "Core", "Reporting",
            ["TimeAndRandomness", "ReportedText", "GNSS"]),
        room("Core", "Conditions", ["TimeAndRandomness", "ReportedText", "GNSS", "VehicleAuthorization", "Reporting"]),
        room("Core", "TrackDrawing", ["TimeAndRandomness", "ReportedText", "GNSS", "CMath"]),

        // Adapters: each connects one external system.
        room("Adapters", "LinuxPlatform", ["TimeAndRandomness", "ReportedText", "Reporting", "Conditions", "CLinux"]),
        room(
            "Adapters", "GNSSReceiver",
            ["TimeAndRandomness", "ReportedText", "StrictJSON", "GNSS", "Reporting", "LinuxPlatform", "CZlib"]),
        room(
            "Adapters", "BackendAuthorization",
            [
                "TimeAndRandomness", "ReportedText", "StrictJSON", "VehicleAuthorization", "HTTPMessages",
                "LinuxPlatform",
            ]),
        room(
            "Adapters", "CurlTransport",
            [
                "TimeAndRandomness", "ReportedText", "HTTPMessages", "Conditions", "LinuxPlatform", "CCurl", "CCrypto",
                "CSSL",
            ]),
        room(
            "Adapters", "SQLiteOutbox",
            ["TimeAndRandomness", "ReportedText", "StrictJSON", "GNSS", "Reporting", "LinuxPlatform", "CSQLite"]),
        room(
            "Adapters", "FleetEngineDelivery",
            [
                "TimeAndRandomness", "ReportedText", "StrictJSON", "HTTPMessages", "VehicleAuthorization",
                "FleetEngine",
                "Reporting",
            ]),
        room("Adapters", "HTTPService", ["TimeAndRandomness", "ReportedText", "HTTPMessages", "LinuxPlatform"]),
        room(
            "Adapters", "RunRecording",
            ["TimeAndRandomness", "ReportedText", "GNSS", "Reporting", "LinuxPlatform", "GNSSReceiver"]),

        // Operations and Agent: the service, which connects the ports to the adapters.
        room(
            "Operations", "Operations",
            [
                "TimeAndRandomness", "ReportedText", "StrictJSON", "HTTPMessages", "GNSS", "VehicleAuthorization",
                "FleetEngine", "Reporting", "Conditions", "TrackDrawing", "LinuxPlatform", "GNSSReceiver",
                "BackendAuthorization", "CurlTransport", "SQLiteOutbox", "FleetEngineDelivery", "HTTPService",
            ]),
        room(
            "Agent", "Waypost",
            [
                "TimeAndRandomness", "ReportedText", "StrictJSON", "HTTPMessages", "GNSS", "VehicleAuthorization",
                "FleetEngine", "Reporting", "Conditions", "LinuxPlatform", "GNSSReceiver", "BackendAuthorization",
                "SQLiteOutbox", "HTTPService", "RunRecording", "Operations",
            ]),

        // Tools: simulators, the replay and the map, which no vehicle needs.
        room("Tools", "ReceiverSimulator", ["TimeAndRandomness", "GNSS"]),
        room(
            "Tools", "FleetEngineSimulator",
            [
                "TimeAndRandomness", "ReportedText", "StrictJSON", "GNSS", "VehicleAuthorization", "FleetEngine",
                "Reporting", "TrackDrawing", "HTTPMessages",
                "HTTPService", "LinuxPlatform", "CCrypto",
            ]),
        room(
            "Tools", "LogReports",
            [
                "TimeAndRandomness", "ReportedText", "GNSS", "Conditions", "TrackDrawing", "LinuxPlatform",
                "GNSSReceiver",
                "Operations",
            ]),
        room(
            "Tools", "Replay",
            [
                "TimeAndRandomness", "ReportedText", "StrictJSON", "HTTPMessages", "GNSS", "VehicleAuthorization",
                "FleetEngine", "Reporting", "Conditions", "TrackDrawing", "LinuxPlatform", "GNSSReceiver",
                "SQLiteOutbox", "Operations", "Waypost",
            ]),
        room(
            "Tools", "Demo",
            [
                "TimeAndRandomness", "ReportedText", "HTTPMessages", "FleetEngine", "Reporting", "Conditions",
                "LinuxPlatform", "GNSSReceiver", "Operations", "FleetEngineSimulator", "ReceiverSimulator", "Replay",
                "TrackDrawing",
            ]),

        .executableTarget(
            name: "WaypostCommand",
            dependencies: [
                "Waypost", "Operations", "Conditions", "FleetEngine", "GNSS", "GNSSReceiver", "HTTPMessages",
                "LinuxPlatform", "Reporting", "ReportedText", "SQLiteOutbox", "StrictJSON",
                "Demo", "FleetEngineSimulator", "LogReports", "ReceiverSimulator", "Replay", "TimeAndRandomness",
                "TrackDrawing",
                "VehicleAuthorization",
            ],
            path: "Sources/Command/WaypostCommand", swiftSettings: houseStyle),

        systemLibrary("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
        systemLibrary("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
        systemLibrary("CCrypto", pkgConfig: "libcrypto", package: "libssl-dev"),
        systemLibrary("CSSL", pkgConfig: "libssl", package: "libssl-dev"),
        systemLibrary("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
        systemLibrary("CLinux"),
        systemLibrary("CMath"),

        .target(
            name: "WaypostTestSupport",
            dependencies: [
                "TimeAndRandomness", "GNSS", "HTTPMessages", "VehicleAuthorization", "FleetEngine", "Reporting",
                "FleetEngineDelivery", "LinuxPlatform", "HTTPService", "ReportedText", "CLinux",
            ],
            path: "Tests/Support", swiftSettings: houseStyle),
        tests("TimeAndRandomness"),
        tests("ReportedText", ["VehicleAuthorization"]),
        tests("StrictJSON", ["StrictJSON"]),
        tests("HTTPMessages", ["HTTPMessages"]),
        tests("GNSS", ["GNSS", "ReceiverSimulator"]),
        tests("VehicleAuthorization", ["VehicleAuthorization", "StrictJSON", "LinuxPlatform"]),
        tests("DriverAuthorization", ["DriverAuthorization", "VehicleAuthorization", "LinuxPlatform"]),
        tests("FleetEngine", ["FleetEngine", "HTTPMessages", "StrictJSON"]),
        tests(
            "Reporting",
            [
                "Reporting", "GNSS", "GNSSReceiver", "LinuxPlatform", "ReceiverSimulator",
                "FleetEngineDelivery", "VehicleAuthorization", "FleetEngine", "HTTPMessages",
            ]),
        tests(
            "FleetEngineDelivery",
            ["FleetEngineDelivery", "FleetEngine", "HTTPMessages", "Reporting", "VehicleAuthorization"]),
        tests("Conditions", ["Conditions", "GNSS", "Reporting", "StrictJSON", "VehicleAuthorization"]),
        tests("TrackDrawing", ["TrackDrawing", "GNSS"]),
        tests("LinuxPlatform", ["LinuxPlatform", "Conditions", "Reporting", "CLinux"]),
        tests("GNSSReceiver", ["GNSSReceiver", "GNSS", "Reporting", "LinuxPlatform", "CLinux", "CZlib"]),
        tests(
            "BackendAuthorization", ["BackendAuthorization", "VehicleAuthorization", "HTTPMessages", "LinuxPlatform"]),
        tests(
            "CurlTransport", ["CurlTransport", "Conditions", "HTTPMessages", "HTTPService", "LinuxPlatform", "CCurl"]),
        tests("LyingDisk", ["LyingDisk", "SQLiteOutbox", "LinuxPlatform", "CSQLite"]),
        tests(
            "SQLiteOutbox",
            ["SQLiteOutbox", "LyingDisk", "Reporting", "GNSS", "LinuxPlatform", "CSQLite"]),
        tests("HTTPService", ["HTTPService", "HTTPMessages", "LinuxPlatform"]),
        tests("RunRecording", ["RunRecording", "GNSS", "GNSSReceiver", "LinuxPlatform", "Reporting"]),
        tests(
            "FleetEngineSimulator",
            [
                "FleetEngineSimulator", "StrictJSON", "VehicleAuthorization", "FleetEngine", "HTTPMessages",
                "HTTPService",
                "LinuxPlatform",
            ]),
        tests(
            "Agent",
            [
                "Waypost", "WaypostCommand", "Operations", "Conditions", "FleetEngine", "FleetEngineDelivery",
                "FleetEngineSimulator", "GNSS", "GNSSReceiver",
                "HTTPMessages", "HTTPService", "LinuxPlatform", "LogReports", "Reporting", "ReceiverSimulator",
                "Replay",
                "SQLiteOutbox", "TrackDrawing", "StrictJSON", "VehicleAuthorization",
            ]),
        tests("Replay", ["Replay", "GNSS", "Reporting"]),
        tests("DeliverySimulation", ["DeliverySimulation", "LinuxPlatform"]),
        .target(
            name: "FaultProxy", dependencies: ["TimeAndRandomness", "LinuxPlatform"], path: "Tests/Faults/FaultProxy",
            swiftSettings: houseStyle),
        tests(
            "Link",
            [
                "FaultProxy", "Conditions", "CurlTransport", "FleetEngineDelivery", "Reporting", "FleetEngine", "GNSS",
                "HTTPMessages",
                "HTTPService", "LinuxPlatform", "VehicleAuthorization", "Operations", "Waypost",
            ]),
        tests("Architecture"),

        .executableTarget(
            name: "FixtureGenerator", dependencies: ["ReceiverSimulator"], path: "Tests/FixtureGenerator",
            swiftSettings: houseStyle),
        .executableTarget(
            name: "BacklogGenerator",
            dependencies: ["TimeAndRandomness", "GNSS", "Reporting", "SQLiteOutbox", "WaypostTestSupport"],
            path: "Tests/BacklogGenerator", swiftSettings: houseStyle),
        .target(
            name: "LyingDisk", dependencies: ["TimeAndRandomness", "SQLiteOutbox", "LinuxPlatform", "CSQLite"],
            path: "Tests/Faults/LyingDisk", swiftSettings: houseStyle),
        .target(name: "CSimulatedExecutor", path: "Tests/Simulation/Executor"),
        .executableTarget(
            name: "DeliverySimulation",
            dependencies: [
                "CSimulatedExecutor", "FleetEngine", "FleetEngineDelivery", "GNSS", "HTTPMessages", "LinuxPlatform",
                "Reporting",
                "LyingDisk", "ReceiverSimulator", "ReportedText", "SQLiteOutbox", "StrictJSON", "TimeAndRandomness",
                "VehicleAuthorization",
            ],
            path: "Tests/Simulation/Delivery", swiftSettings: houseStyle),
        .target(name: "CByteLoop", path: "Tests/Benchmarks/CByteLoop"),
        .executableTarget(
            name: "NMEABenchmark", dependencies: ["BenchmarkReport", "GNSS", "ReceiverSimulator", "CByteLoop"],
            path: "Tests/Benchmarks/NMEA", swiftSettings: houseStyle),
        .target(
            name: "BenchmarkReport", dependencies: ["LinuxPlatform"], path: "Tests/Benchmarks/Report",
            swiftSettings: houseStyle),
        .executableTarget(
            name: "AgentBenchmark",
            dependencies: [
                "BenchmarkReport", "CurlTransport", "FleetEngine", "FleetEngineSimulator", "GNSS", "HTTPMessages",
                "HTTPService", "LinuxPlatform", "Reporting", "ReceiverSimulator", "ReportedText",
                "SQLiteOutbox",
                "StrictJSON", "TimeAndRandomness", "WaypostTestSupport", "CLinux", "CSQLite",
            ],
            path: "Tests/Benchmarks/Agent", swiftSettings: houseStyle),
        .executableTarget(
            name: "ReceiverBenchmark",
            dependencies: [
                "BenchmarkReport", "GNSS", "GNSSReceiver", "LinuxPlatform", "Reporting", "ReceiverSimulator",
                "TimeAndRandomness", "WaypostTestSupport",
            ],
            path: "Tests/Benchmarks/Receiver", swiftSettings: houseStyle),
        .executableTarget(
            name: "OutboxBenchmark",
            dependencies: [
                "BenchmarkReport", "SQLiteOutbox", "Reporting", "LinuxPlatform", "GNSS", "TimeAndRandomness",
                "WaypostTestSupport", "CSQLite",
            ],
            path: "Tests/Benchmarks/Outbox", swiftSettings: houseStyle),
    ],
    swiftLanguageModes: [.v6]
)
