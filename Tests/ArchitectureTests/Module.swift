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
    "StrictJSON", "HTTPMessages", "GNSS", "VehicleAuthorization", "FleetEngine", "LocationReporting", "LinuxPlatform",
    "GNSSReceiver", "BackendAuthorization", "CurlTransport", "SQLiteOutbox", "HTTPService",
]

/// The architecture: who may know whom. A line here is a decision; docs/architecture.md says why.
let modules: [Module] = [
    // Pure: no I/O, no C, no platform.
    Module("Core", "StrictJSON", []),
    Module("Core", "HTTPMessages", []),
    Module("Core", "GNSS", []),
    Module("Core", "VehicleAuthorization", ["StrictJSON"]),
    // Speaks to providers written against Foundation, and is the only one that may.
    Module("Core", "DriverAuthorization", ["VehicleAuthorization", "Foundation", "Synchronization"]),
    Module("Core", "FleetEngine", ["StrictJSON", "HTTPMessages", "FoundationEssentials"]),
    Module("Core", "LocationReporting", ["GNSS", "VehicleAuthorization", "FleetEngine", "HTTPMessages"]),

    // One outside thing each.
    Module("Adapters", "LinuxPlatform", ["CLinux", "Glibc", "Synchronization"]),
    Module("Adapters", "GNSSReceiver", ["StrictJSON", "GNSS", "LocationReporting", "LinuxPlatform", "CZlib", "Glibc"]),
    Module(
        "Adapters", "BackendAuthorization",
        ["StrictJSON", "VehicleAuthorization", "HTTPMessages", "LinuxPlatform", "FoundationEssentials", "Glibc"]),
    Module("Adapters", "CurlTransport", ["HTTPMessages", "LinuxPlatform", "CCurl", "Glibc"]),
    Module("Adapters", "SQLiteOutbox", ["GNSS", "LocationReporting", "LinuxPlatform", "CSQLite", "Glibc"]),
    Module("Adapters", "HTTPService", ["HTTPMessages", "LinuxPlatform", "Glibc"]),

    Module("Simulator", "SeededChance", []),
    Module("Simulator", "ReceiverSimulator", ["SeededChance", "GNSS"]),
    Module(
        "Simulator", "FleetEngineSimulator",
        [
            "SeededChance", "StrictJSON", "FleetEngine", "HTTPMessages", "HTTPService", "LinuxPlatform", "CCrypto",
            "FoundationEssentials", "Glibc",
        ]),

    // The only ones who see both ports and adapters.
    Module("Agent", "Waypost", coreAndAdapters.union(["FoundationEssentials", "Glibc"])),
    Module(
        "Agent", "WaypostCommand",
        coreAndAdapters.union(["Waypost", "FleetEngineSimulator", "ReceiverSimulator", "FoundationEssentials", "Glibc"])
    ),
]
