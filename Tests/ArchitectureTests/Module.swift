/// What one module under `Sources/` may import.
struct Module: Sendable {
    let name: String
    /// `Core`, `Adapters`, `Simulator` or `Agent`.
    let room: String
    let mayImport: Set<String>

    init(_ room: String, _ name: String, _ mayImport: Set<String>) {
        (self.room, self.name, self.mayImport) = (room, name, mayImport)
    }

    var folder: String { "Sources/\(room)/\(name)" }
}

/// Everything that `Sources/Core` and `Sources/Adapters` hold, and so what wires them together may know.
private let coreAndAdapters: Set<String> = [
    "ReportedText", "StrictJSON", "HTTPMessages", "GNSS", "VehicleAuthorization", "FleetEngine", "LocationReporting",
    "LinuxPlatform", "GNSSReceiver", "BackendAuthorization", "CurlTransport", "SQLiteOutbox", "HTTPService",
    "RunRecording",
]

/// The architecture: who may know whom. A line here is a decision; docs/architecture.md says why.
let modules: [Module] = [
    // Pure: no I/O, no C, no platform.
    // The one redaction: whoever shows what others say knows it.
    Module("Core", "ReportedText", []),
    Module("Core", "StrictJSON", []),
    Module("Core", "HTTPMessages", ["ReportedText"]),
    Module("Core", "GNSS", ["ReportedText"]),
    Module("Core", "VehicleAuthorization", ["ReportedText", "StrictJSON"]),
    // Speaks to providers written against Foundation, and is the only one that may.
    Module("Core", "DriverAuthorization", ["ReportedText", "VehicleAuthorization", "Foundation", "Synchronization"]),
    Module("Core", "FleetEngine", ["ReportedText", "StrictJSON", "HTTPMessages", "FoundationEssentials"]),
    Module(
        "Core", "LocationReporting", ["ReportedText", "GNSS", "VehicleAuthorization", "FleetEngine", "HTTPMessages"]),
    // What every page with a track on it looks like; libm is all that it needs of C.
    Module("Core", "TrackDrawing", ["GNSS", "Glibc"]),

    // One outside thing each.
    Module("Adapters", "LinuxPlatform", ["ReportedText", "CLinux", "Glibc", "Synchronization"]),
    Module(
        "Adapters", "GNSSReceiver",
        ["ReportedText", "StrictJSON", "GNSS", "LocationReporting", "LinuxPlatform", "CZlib", "Glibc"]),
    Module(
        "Adapters", "BackendAuthorization",
        [
            "ReportedText", "StrictJSON", "VehicleAuthorization", "HTTPMessages", "LinuxPlatform",
            "FoundationEssentials", "Glibc",
        ]),
    Module("Adapters", "CurlTransport", ["ReportedText", "HTTPMessages", "LinuxPlatform", "CCurl", "Glibc"]),
    Module(
        "Adapters", "SQLiteOutbox", ["ReportedText", "GNSS", "LocationReporting", "LinuxPlatform", "CSQLite", "Glibc"]),
    Module("Adapters", "HTTPService", ["ReportedText", "HTTPMessages", "LinuxPlatform", "Glibc"]),
    Module(
        "Adapters", "RunRecording",
        [
            "ReportedText", "GNSS", "VehicleAuthorization", "FleetEngine", "LocationReporting", "HTTPMessages",
            "LinuxPlatform", "GNSSReceiver", "FoundationEssentials", "Glibc",
        ]),

    Module("Simulator", "SeededChance", []),
    Module("Simulator", "ReceiverSimulator", ["SeededChance", "GNSS"]),
    Module(
        "Simulator", "FleetEngineSimulator",
        [
            "SeededChance", "ReportedText", "StrictJSON", "GNSS", "FleetEngine", "TrackDrawing", "HTTPMessages",
            "HTTPService", "LinuxPlatform", "CCrypto", "FoundationEssentials", "Glibc",
        ]),

    // The only ones who see both ports and adapters.
    Module("Agent", "Waypost", coreAndAdapters.union(["FoundationEssentials", "Glibc"])),
    Module(
        "Agent", "WaypostCommand",
        coreAndAdapters.union([
            "Waypost", "TrackDrawing", "FleetEngineSimulator", "ReceiverSimulator", "FoundationEssentials", "Glibc",
        ])
    ),
]
