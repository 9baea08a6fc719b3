/// The satellites that a receiver sees, and which of them its position is made of.
package struct Sky: Sendable, Hashable {
    /// By system, then by number; one entry a satellite, whichever of its signals are received.
    package let satellites: [Satellite]

    /// Of several entries of one satellite the strongest signal counts; more satellites than any receiver follows are
    /// left out.
    package init(_ satellites: some Sequence<Satellite>) {
        var merged: [Satellite.ID: Satellite] = [:]
        for satellite in satellites where merged.count < Self.capacity || merged[satellite.id] != nil {
            merged[satellite.id] = merged[satellite.id].map { $0.merged(with: satellite) } ?? satellite
        }
        self.satellites = merged.values.sorted { $0.id < $1.id }
    }

    /// Satellites of one sky at most: receivers follow up to 120 or so, of all systems.
    private static let capacity = 256
}

/// One satellite as a receiver sees it. What the receiver does not say is absent.
package struct Satellite: Sendable, Hashable, Identifiable {
    package struct ID: Sendable, Hashable, Comparable {
        package let system: SatelliteSystem
        /// As the receiver numbers it.
        package let number: Int

        package init(_ system: SatelliteSystem, _ number: Int) {
            self.system = system
            self.number = number
        }

        package static func < (one: Self, other: Self) -> Bool {
            (one.system.order, one.number) < (other.system.order, other.number)
        }
    }

    package let id: ID
    /// Above the horizon, -90...90.
    package var elevationDegrees: Int?
    /// From true north, 0..<360.
    package var azimuthDegrees: Int?
    /// Carrier to noise density (C/N0) in dB-Hz; absent while the satellite is not tracked.
    package var signalDecibelHertz: Int?
    /// Whether the position is made of it, too.
    package var isUsed: Bool

    package init(
        _ system: SatelliteSystem, _ number: Int, elevation: Int? = nil, azimuth: Int? = nil, signal: Int? = nil,
        isUsed: Bool = false
    ) {
        id = ID(system, number)
        elevationDegrees = elevation
        azimuthDegrees = azimuth
        signalDecibelHertz = signal
        self.isUsed = isUsed
    }

    fileprivate func merged(with other: Self) -> Self {
        var merged = self
        merged.elevationDegrees = elevationDegrees ?? other.elevationDegrees
        merged.azimuthDegrees = azimuthDegrees ?? other.azimuthDegrees
        merged.signalDecibelHertz = [signalDecibelHertz, other.signalDecibelHertz].compactMap(\.self).max()
        merged.isUsed = isUsed || other.isUsed
        return merged
    }
}

/// A satellite navigation system, by its usual name.
package enum SatelliteSystem: String, Sendable, Hashable, CaseIterable {
    case gps = "GPS"
    case glonass = "GLONASS"
    case galileo = "Galileo"
    case beiDou = "BeiDou"
    case qzss = "QZSS"
    case navIC = "NavIC"
    /// Satellites that send corrections (EGNOS, WAAS and others), from which a receiver may measure as well.
    case sbas = "SBAS"

    fileprivate var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// The system that NMEA 4.11 numbers so in GSA; `nil` for any other number.
    package init?(systemID: Int) {
        let systems: [Self] = [.gps, .glonass, .galileo, .beiDou, .qzss, .navIC]
        guard systems.indices.contains(systemID - 1) else { return nil }
        self = systems[systemID - 1]
    }

    /// The system of a satellite by its number, in a sentence that is about `stated` or does not say.
    ///
    /// Under the talker of GPS older receivers list those of other systems, by NMEA's ranges of numbers; corrections
    /// come under those of GPS and GLONASS. Where nothing is stated the ranges decide alone.
    package init?(ofSatellite number: Int, stated: Self?) {
        switch (stated, number) {
        case (.gps, 33...64), (.glonass, 33...64), (nil, 33...64), (.gps, 120...158), (nil, 120...158): self = .sbas
        case (.gps, 65...99), (nil, 65...99): self = .glonass
        case (.gps, 193...202), (nil, 193...202): self = .qzss
        case (let stated?, _): self = stated
        case (nil, 1...32): self = .gps
        case (nil, 201...264), (nil, 401...464): self = .beiDou
        case (nil, 301...336): self = .galileo
        default: return nil
        }
    }
}
