/// The imports allowed for one module below `Sources/`.
struct Module: Sendable {
    let name: String
    /// `Core`, `Adapters`, `Operations`, `Agent`, `Tools` or `Command`.
    let room: String
    let mayImport: Set<String>

    init(_ room: String, _ name: String, _ mayImport: Set<String>) {
        (self.room, self.name, self.mayImport) = (room, name, mayImport)
    }

    var directory: String { "Sources/\(room)/\(name)" }
}

/// All modules in `Sources/Core` and `Sources/Adapters`, which the modules that wire them together may import.
private let coreAndAdapters: Set<String> = [
    "TimeAndRandomness", "ReportedText", "StrictJSON", "HTTPMessages", "GNSS", "VehicleAuthorization", "FleetEngine",
    "Reporting", "Conditions", "TrackDrawing", "LinuxPlatform", "GNSSReceiver", "BackendAuthorization", "CurlTransport",
    "SQLiteOutbox", "FleetEngineDelivery", "HTTPService", "RunRecording",
]

/// The architecture: the imports allowed for each module. Each line is a decision; docs/architecture.md has the
/// reasons.
let modules: [Module] = [
    // Pure modules: no I/O, no platform, and no C except mathematics. Values that differ between runs are passed in.
    Module("Core", "TimeAndRandomness", []),
    // The only redaction, used wherever foreign text is shown, and the formatting of counts.
    Module("Core", "ReportedText", []),
    Module("Core", "StrictJSON", []),
    Module("Core", "HTTPMessages", ["TimeAndRandomness", "ReportedText"]),
    Module("Core", "GNSS", ["TimeAndRandomness", "ReportedText", "CMath"]),
    Module("Core", "VehicleAuthorization", ["ReportedText", "StrictJSON"]),
    // This module calls providers that use Foundation. It re-exports Foundation for them, and no other module may
    // import Foundation.
    Module(
        "Core", "DriverAuthorization",
        ["ReportedText", "VehicleAuthorization", "Foundation", "FoundationNetworking", "Synchronization"]),
    Module("Core", "FleetEngine", ["TimeAndRandomness", "ReportedText", "StrictJSON", "HTTPMessages"]),
    Module(
        "Core", "Reporting",
        ["TimeAndRandomness", "ReportedText", "GNSS"]),
    // The conditions that an operator should know. Only this module words failures.
    Module("Core", "Conditions", ["TimeAndRandomness", "ReportedText", "GNSS", "VehicleAuthorization", "Reporting"]),
    // The appearance of every page that shows a track.
    Module("Core", "TrackDrawing", ["TimeAndRandomness", "ReportedText", "GNSS", "CMath"]),

    // Each adapter handles one external system.
    Module(
        "Adapters", "LinuxPlatform",
        ["TimeAndRandomness", "ReportedText", "Reporting", "Conditions", "CLinux", "Glibc", "Synchronization"]),
    Module(
        "Adapters", "GNSSReceiver",
        ["TimeAndRandomness", "ReportedText", "StrictJSON", "GNSS", "Reporting", "LinuxPlatform", "CZlib", "Glibc"]),
    Module(
        "Adapters", "BackendAuthorization",
        [
            "TimeAndRandomness", "ReportedText", "StrictJSON", "VehicleAuthorization", "HTTPMessages", "LinuxPlatform",
            "Glibc",
        ]),
    Module(
        "Adapters", "CurlTransport",
        [
            "TimeAndRandomness", "ReportedText", "HTTPMessages", "Conditions", "LinuxPlatform", "CCurl", "CCrypto",
            "CSSL",
            "Glibc",
        ]),
    Module(
        "Adapters", "SQLiteOutbox",
        ["TimeAndRandomness", "ReportedText", "StrictJSON", "GNSS", "Reporting", "LinuxPlatform", "CSQLite", "Glibc"]),
    Module(
        "Adapters", "FleetEngineDelivery",
        [
            "TimeAndRandomness", "ReportedText", "StrictJSON", "HTTPMessages", "VehicleAuthorization", "FleetEngine",
            "Reporting",
        ]),
    Module("Adapters", "HTTPService", ["TimeAndRandomness", "ReportedText", "HTTPMessages", "LinuxPlatform", "Glibc"]),
    Module(
        "Adapters", "RunRecording",
        [
            "TimeAndRandomness", "ReportedText", "GNSS", "Reporting", "LinuxPlatform", "GNSSReceiver", "Glibc",
        ]),

    // Everything that an operator sees.
    Module("Operations", "Operations", coreAndAdapters.subtracting(["RunRecording"]).union(["Glibc"])),
    // The service, which assembles the parts and watches their progress.
    Module(
        "Agent", "Waypost",
        coreAndAdapters.subtracting(["TrackDrawing", "CurlTransport", "FleetEngineDelivery"])
            .union(["Operations", "Glibc"])),

    // No vehicle needs these modules to report.
    Module("Tools", "ReceiverSimulator", ["TimeAndRandomness", "GNSS"]),
    Module(
        "Tools", "FleetEngineSimulator",
        [
            "TimeAndRandomness", "ReportedText", "StrictJSON", "GNSS", "VehicleAuthorization", "FleetEngine",
            "Reporting", "TrackDrawing", "HTTPMessages", "HTTPService", "LinuxPlatform", "CCrypto", "Glibc",
        ]),
    Module(
        "Tools", "LogReports",
        [
            "TimeAndRandomness", "ReportedText", "GNSS", "Conditions", "TrackDrawing", "LinuxPlatform", "GNSSReceiver",
            "Operations",
        ]),
    Module(
        "Tools", "Replay",
        coreAndAdapters.subtracting([
            "BackendAuthorization", "CurlTransport", "FleetEngineDelivery", "HTTPService", "RunRecording",
        ])
        .union(["Operations", "Waypost", "Glibc"])),
    Module(
        "Tools", "Demo",
        [
            "TimeAndRandomness", "ReportedText", "HTTPMessages", "FleetEngine", "Reporting", "Conditions",
            "LinuxPlatform", "GNSSReceiver", "Operations", "FleetEngineSimulator", "ReceiverSimulator", "Replay",
            "TrackDrawing",
        ]),

    Module(
        "Command", "WaypostCommand",
        coreAndAdapters.union([
            "Operations", "Waypost", "Demo", "FleetEngineSimulator", "LogReports", "ReceiverSimulator", "Replay",
            "Glibc",
        ])
    ),
]
