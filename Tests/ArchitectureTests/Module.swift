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
    "TimeAndChance", "ReportedText", "StrictJSON", "HTTPMessages", "GNSS", "VehicleAuthorization", "FleetEngine",
    "Reporting", "Conditions", "TrackDrawing", "LinuxPlatform", "GNSSReceiver", "BackendAuthorization", "CurlTransport",
    "SQLiteOutbox", "FleetEngineDelivery", "HTTPService", "RunRecording",
]

/// The architecture: the imports allowed for each module. Each line is a decision; docs/architecture.md has the
/// reasons.
let modules: [Module] = [
    // Pure modules: no I/O, no platform, and no C except mathematics. Values that differ between runs are passed in.
    Module("Core", "TimeAndChance", []),
    // The only redaction, used wherever foreign text is shown, and the formatting of counts.
    Module("Core", "ReportedText", []),
    Module("Core", "StrictJSON", []),
    Module("Core", "HTTPMessages", ["TimeAndChance", "ReportedText"]),
    Module("Core", "GNSS", ["TimeAndChance", "ReportedText", "CMath"]),
    Module("Core", "VehicleAuthorization", ["ReportedText", "StrictJSON"]),
    // This module calls providers that use Foundation. It re-exports Foundation for them, and no other module may
    // import Foundation.
    Module(
        "Core", "DriverAuthorization",
        ["ReportedText", "VehicleAuthorization", "Foundation", "FoundationNetworking", "Synchronization"]),
    Module("Core", "FleetEngine", ["TimeAndChance", "ReportedText", "StrictJSON", "HTTPMessages"]),
    Module(
        "Core", "Reporting",
        ["TimeAndChance", "ReportedText", "GNSS"]),
    // The conditions that an operator should know. Only this module words failures.
    Module("Core", "Conditions", ["TimeAndChance", "ReportedText", "GNSS", "VehicleAuthorization", "Reporting"]),
    // The appearance of every page that shows a track.
    Module("Core", "TrackDrawing", ["TimeAndChance", "ReportedText", "GNSS", "CMath"]),

    // Each adapter handles one external system.
    Module(
        "Adapters", "LinuxPlatform",
        ["TimeAndChance", "ReportedText", "Reporting", "Conditions", "CLinux", "Glibc", "Synchronization"]),
    Module(
        "Adapters", "GNSSReceiver",
        ["TimeAndChance", "ReportedText", "StrictJSON", "GNSS", "Reporting", "LinuxPlatform", "CZlib", "Glibc"]),
    Module(
        "Adapters", "BackendAuthorization",
        [
            "TimeAndChance", "ReportedText", "StrictJSON", "VehicleAuthorization", "HTTPMessages", "LinuxPlatform",
            "Glibc",
        ]),
    Module(
        "Adapters", "CurlTransport",
        ["TimeAndChance", "ReportedText", "HTTPMessages", "Conditions", "LinuxPlatform", "CCurl", "CCrypto", "Glibc"]),
    Module(
        "Adapters", "SQLiteOutbox",
        ["TimeAndChance", "ReportedText", "StrictJSON", "GNSS", "Reporting", "LinuxPlatform", "CSQLite", "Glibc"]),
    Module(
        "Adapters", "FleetEngineDelivery",
        [
            "TimeAndChance", "ReportedText", "StrictJSON", "HTTPMessages", "VehicleAuthorization", "FleetEngine",
            "Reporting",
        ]),
    Module("Adapters", "HTTPService", ["TimeAndChance", "ReportedText", "HTTPMessages", "LinuxPlatform", "Glibc"]),
    Module(
        "Adapters", "RunRecording",
        [
            "TimeAndChance", "ReportedText", "GNSS", "Reporting", "LinuxPlatform", "GNSSReceiver", "Glibc",
        ]),

    // Everything that an operator sees.
    Module("Operations", "Operations", coreAndAdapters.subtracting(["RunRecording"]).union(["Glibc"])),
    // The service, which assembles the parts and watches their progress.
    Module(
        "Agent", "Waypost",
        coreAndAdapters.subtracting(["TrackDrawing", "CurlTransport", "FleetEngineDelivery"])
            .union(["Operations", "Glibc"])),

    // No vehicle needs these modules to report.
    Module("Tools", "ReceiverSimulator", ["TimeAndChance", "GNSS"]),
    Module(
        "Tools", "FleetEngineSimulator",
        [
            "TimeAndChance", "ReportedText", "StrictJSON", "GNSS", "VehicleAuthorization", "FleetEngine",
            "Reporting", "TrackDrawing", "HTTPMessages", "HTTPService", "LinuxPlatform", "CCrypto", "Glibc",
        ]),
    Module(
        "Tools", "LogReports",
        [
            "TimeAndChance", "ReportedText", "GNSS", "Conditions", "TrackDrawing", "LinuxPlatform", "GNSSReceiver",
            "Operations",
        ]),
    Module(
        "Tools", "Replay",
        coreAndAdapters.subtracting([
            "BackendAuthorization", "CurlTransport", "FleetEngineDelivery", "HTTPService", "RunRecording",
        ])
        .union(["Operations", "Waypost", "Glibc"])),

    Module(
        "Command", "WaypostCommand",
        coreAndAdapters.union([
            "Operations", "Waypost", "FleetEngineSimulator", "LogReports", "ReceiverSimulator", "Replay", "Glibc",
        ])
    ),
]
