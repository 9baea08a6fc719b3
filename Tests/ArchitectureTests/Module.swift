/// What one module under `Sources/` may import.
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

/// Everything that `Sources/Core` and `Sources/Adapters` hold, and so what wires them together may know.
private let coreAndAdapters: Set<String> = [
    "TimeAndChance", "ReportedText", "StrictJSON", "HTTPMessages", "GNSS", "VehicleAuthorization", "FleetEngine",
    "Reporting", "Conditions", "TrackDrawing", "LinuxPlatform", "GNSSReceiver", "BackendAuthorization", "CurlTransport",
    "SQLiteOutbox", "FleetEngineDelivery", "HTTPService", "RunRecording",
]

/// The architecture: who may know whom. A line here is a decision; docs/architecture.md says why.
let modules: [Module] = [
    // Pure: no I/O, no platform, no C but its mathematics.
    // What differs from run to run and is given to whoever uses it.
    Module("Core", "TimeAndChance", []),
    // The one redaction: whoever shows what others say knows it. Beside it, how counts are shown.
    Module("Core", "ReportedText", []),
    Module("Core", "StrictJSON", []),
    Module("Core", "HTTPMessages", ["TimeAndChance", "ReportedText"]),
    Module("Core", "GNSS", ["TimeAndChance", "ReportedText", "CMath"]),
    Module("Core", "VehicleAuthorization", ["ReportedText", "StrictJSON"]),
    // Speaks to providers written against Foundation, hands it on to them, and is the only one that may know it.
    Module(
        "Core", "DriverAuthorization",
        ["ReportedText", "VehicleAuthorization", "Foundation", "FoundationNetworking", "Synchronization"]),
    Module("Core", "FleetEngine", ["TimeAndChance", "ReportedText", "StrictJSON", "HTTPMessages"]),
    Module(
        "Core", "Reporting",
        ["TimeAndChance", "ReportedText", "GNSS"]),
    // What an operator should know of: the one place that words a failure.
    Module("Core", "Conditions", ["TimeAndChance", "ReportedText", "GNSS", "VehicleAuthorization", "Reporting"]),
    // What every page with a track on it looks like.
    Module("Core", "TrackDrawing", ["TimeAndChance", "ReportedText", "GNSS", "CMath"]),

    // One outside thing each.
    Module("Adapters", "LinuxPlatform", ["TimeAndChance", "ReportedText", "CLinux", "Glibc", "Synchronization"]),
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
        ["TimeAndChance", "ReportedText", "HTTPMessages", "LinuxPlatform", "CCurl", "CCrypto", "Glibc"]),
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

    Module("Tools", "ReceiverSimulator", ["TimeAndChance", "GNSS"]),
    Module(
        "Tools", "FleetEngineSimulator",
        [
            "TimeAndChance", "ReportedText", "StrictJSON", "GNSS", "VehicleAuthorization", "FleetEngine",
            "TrackDrawing", "HTTPMessages", "HTTPService", "LinuxPlatform", "CCrypto", "Glibc",
        ]),

    // Everything that an operator sees.
    Module("Operations", "Operations", coreAndAdapters.subtracting(["RunRecording"]).union(["Glibc"])),
    // The service: puts it together and watches its progress.
    Module(
        "Agent", "Waypost",
        coreAndAdapters.subtracting(["TrackDrawing", "CurlTransport", "FleetEngineDelivery"])
            .union(["Operations", "Glibc"])),
    Module(
        "Command", "WaypostCommand",
        coreAndAdapters.union(["Operations", "Waypost", "FleetEngineSimulator", "ReceiverSimulator", "Glibc"])
    ),
]
