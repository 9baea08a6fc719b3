/// The satellites in a receiver's view. Each entry says whether the receiver uses the satellite for its position.
package struct Sky: Sendable, Hashable {
    /// The satellites, sorted by system and number. Each satellite has a single entry, even if the receiver receives
    /// several of its signals.
    package let satellites: [Satellite]

    /// Creates a sky of at most 256 satellites. If there are more, the last ones in the order of system and number are
    /// dropped. Several entries for one satellite are merged, keeping the strongest signal, and the first elevation and
    /// azimuth.
    package init(_ satellites: some Sequence<Satellite>) {
        var distinct: [Satellite] = []
        // The sort is stable, so the entries for one satellite stay in their original order.
        for satellite in satellites.sorted(by: { $0.id < $1.id }) {
            if let last = distinct.last, last.id == satellite.id {
                distinct[distinct.count - 1] = last.merged(with: satellite)
            } else if distinct.count < Self.capacity {
                distinct.append(satellite)
            }
        }
        self.satellites = distinct
    }

    /// The maximum number of satellites. Receivers track up to about 120.
    private static let capacity = 256
}

/// A satellite in a receiver's view. Values that the receiver doesn't report are `nil`.
package struct Satellite: Sendable, Hashable, Identifiable {
    package struct ID: Sendable, Hashable, Comparable {
        package let system: SatelliteSystem
        /// The number that the receiver uses for the satellite.
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
    /// The angle above the horizon in degrees, -90...90.
    package var elevationDegrees: Int?
    /// The direction in degrees from true north, 0..<360.
    package var azimuthDegrees: Int?
    /// The carrier-to-noise density (C/N0) in dB-Hz; `nil` while the receiver doesn't track the satellite.
    package var signalDecibelHertz: Int?
    /// Whether the receiver uses the satellite for its position.
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

/// A satellite navigation system.
package enum SatelliteSystem: String, Sendable, Hashable, CaseIterable {
    case gps = "GPS"
    case glonass = "GLONASS"
    case galileo = "Galileo"
    case beiDou = "BeiDou"
    case qzss = "QZSS"
    case navIC = "NavIC"
    /// Satellites that send corrections (EGNOS, WAAS and others). A receiver may also use them for its position.
    case sbas = "SBAS"

    fileprivate var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// Hashes the order, because hashing the raw value, a string, takes longer.
    package func hash(into hasher: inout Hasher) { hasher.combine(order) }

    /// Creates the system for a system ID in the GSA of NMEA 4.11; `nil` if the ID isn't defined.
    package init?(systemID: Int) {
        let systems: [Self] = [.gps, .glonass, .galileo, .beiDou, .qzss, .navIC]
        guard systems.indices.contains(systemID - 1) else { return nil }
        self = systems[systemID - 1]
    }

    /// Creates the system of the satellite `number` in a sentence that is about the system `stated`.
    ///
    /// Older receivers list other systems' satellites as GPS satellites, with numbers from NMEA's range for each
    /// system. SBAS satellites are listed under GPS and GLONASS. If `stated` is `nil`, only the number decides.
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
