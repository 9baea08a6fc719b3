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
    "UTC", "ReportedText", "StrictJSON", "HTTPMessages", "GNSS", "VehicleAuthorization", "FleetEngine",
    "LocationReporting", "LinuxPlatform", "GNSSReceiver", "BackendAuthorization", "CurlTransport", "SQLiteOutbox", "HTTPService",
]

/// The architecture: who may know whom. A line here is a decision; docs/architecture.md says why.
let modules: [Module] = [
    // Pure: no I/O, no platform, no C but its mathematics.
    // Times are told by receivers, servers and the host alike.
    Module("Core", "UTC", []),
    // The one redaction: whoever shows what others say knows it.
    Module("Core", "ReportedText", []),
    Module("Core", "StrictJSON", []),
    Module("Core", "HTTPMessages", ["UTC", "ReportedText"]),
    Module("Core", "GNSS", ["UTC", "ReportedText", "CMath"]),
    Module("Core", "VehicleAuthorization", ["ReportedText", "StrictJSON"]),
    // Speaks to providers written against Foundation, and is the only one that may.
    Module("Core", "DriverAuthorization", ["ReportedText", "VehicleAuthorization", "Foundation", "Synchronization"]),
    Module("Core", "FleetEngine", ["UTC", "ReportedText", "StrictJSON", "HTTPMessages"]),
    Module(
        "Core", "LocationReporting",
        ["UTC", "ReportedText", "GNSS", "VehicleAuthorization", "FleetEngine", "HTTPMessages"]),

    // One outside thing each.
    Module("Adapters", "LinuxPlatform", ["UTC", "ReportedText", "CLinux", "Glibc", "Synchronization"]),
    Module(
        "Adapters", "GNSSReceiver",
        ["UTC", "ReportedText", "StrictJSON", "GNSS", "LocationReporting", "LinuxPlatform", "CZlib", "Glibc"]),
    Module(
        "Adapters", "BackendAuthorization",
        [
            "UTC", "ReportedText", "StrictJSON", "VehicleAuthorization", "HTTPMessages", "LinuxPlatform",
            "Glibc",
        ]),
    Module("Adapters", "CurlTransport", ["ReportedText", "HTTPMessages", "LinuxPlatform", "CCurl", "Glibc"]),
    Module(
        "Adapters", "SQLiteOutbox",
        ["UTC", "ReportedText", "GNSS", "LocationReporting", "LinuxPlatform", "CSQLite", "Glibc"]),
    Module("Adapters", "HTTPService", ["UTC", "ReportedText", "HTTPMessages", "LinuxPlatform", "Glibc"]),

    Module("Simulator", "SeededChance", []),
    Module("Simulator", "ReceiverSimulator", ["UTC", "SeededChance", "GNSS"]),
    Module(
        "Simulator", "FleetEngineSimulator",
        [
            "UTC", "SeededChance", "ReportedText", "StrictJSON", "VehicleAuthorization", "FleetEngine", "HTTPMessages",
            "HTTPService", "LinuxPlatform", "CCrypto", "Glibc",
        ]),

    // The only ones who see both ports and adapters.
    Module("Agent", "Waypost", coreAndAdapters.union(["Glibc"])),
    Module(
        "Agent", "WaypostCommand",
        coreAndAdapters.union(["Waypost", "FleetEngineSimulator", "ReceiverSimulator", "Glibc"])
    ),
]
