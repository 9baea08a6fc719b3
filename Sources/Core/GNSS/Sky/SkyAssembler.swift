/// An assembler that combines GSV and GSA sentences into a receiver's sky. The caller passes the time.
///
/// A receiver sends GSV sentences in groups: one group per system and, since NMEA 4.10, per signal. A complete group is
/// valid until the next group with the same talker and signal is complete. GSA lists the satellites that are used for
/// an epoch's position. Assembling the sky neither delays nor changes a fix.
struct SkyAssembler: Sendable {
    /// A complete group of GSV sentences.
    private struct Group {
        let kind: Kind
        let satellites: [Satellite]
        let receivedAt: Duration
    }

    /// The talker and signal of a group. A group replaces the previous group with the same talker and signal.
    private struct Kind: Hashable {
        let talker: UInt16
        let signal: UInt8
    }

    private struct IncompleteGroup {
        let kind: Kind
        let partCount: Int
        var nextPart: Int
        var satellites: [Satellite]
    }

    private var groups: [Group] = []
    private var incoming: IncompleteGroup?
    /// The satellites that were used for the previous epoch, and those that GSA has listed so far for the current
    /// epoch.
    private var usedSatellites: (previous: Set<Satellite.ID>, current: Set<Satellite.ID>) = ([], [])
    private var usedEpoch: (serial: Int, at: Duration)?
    /// Whether anything has been reported since `takeSky` last returned a sky.
    private var hasChanged = false

    /// The time after which a group that hasn't been repeated is no longer valid. Some receivers send GSV only every
    /// ten seconds.
    private static let maximumAge = Duration.seconds(30)
    private static let maximumGroups = 32
    private static let maximumParts = 16

    /// The sentence types in the form of `NMEADecoder.address`, without the talker.
    private static let gsv = SentenceType.code("GSV")
    private static let gsa = SentenceType.code("GSA")

    /// Adds a GSV or GSA sentence. `address` must have five bytes. `epoch` is the serial number of the current epoch.
    @inline(__always)
    mutating func add(_ fields: FieldCursor, address: UInt64, epoch: Int, at now: Duration) {
        let talker = UInt16(truncatingIfNeeded: address)
        switch address >> 16 {
        case Self.gsv: addSatellitesInView(fields, talker: talker, at: now)
        case Self.gsa: addUsedSatellites(fields, talker: talker, epoch: epoch, at: now)
        default: break
        }
    }

    /// Returns the sky at `now`; `nil` if nothing has been reported since the last call.
    mutating func takeSky(at now: Duration) -> Sky? {
        guard hasChanged else { return nil }
        hasChanged = false
        groups.removeAll { now - $0.receivedAt > Self.maximumAge }
        var usedIDs = usedSatellites.previous.isEmpty ? usedSatellites.current : usedSatellites.previous
        if let usedEpoch, now - usedEpoch.at > Self.maximumAge { usedIDs = [] }
        let inView = groups.lazy.flatMap(\.satellites)
        return Sky(Array(inView) + usedIDs.map { Satellite($0.system, $0.number, isUsed: true) })
    }

    private mutating func addSatellitesInView(_ fields: FieldCursor, talker: UInt16, at now: Duration) {
        guard let sentence = InViewSentence(fields, talker: talker), sentence.partCount <= Self.maximumParts else {
            incoming = nil
            return
        }
        if sentence.partNumber == 1 {
            incoming = IncompleteGroup(
                kind: Kind(talker: talker, signal: sentence.signal), partCount: sentence.partCount, nextPart: 1,
                satellites: [])
        }
        // If a sentence of the group is missing or belongs to another group, the group is dropped.
        guard var group = incoming, group.kind.talker == talker, group.partCount == sentence.partCount,
            group.nextPart == sentence.partNumber
        else {
            incoming = nil
            return
        }
        group.satellites += sentence.satellites
        group.nextPart += 1
        guard sentence.partNumber == group.partCount else {
            incoming = group
            return
        }
        incoming = nil
        groups.removeAll { $0.kind == group.kind }
        if groups.count == Self.maximumGroups { groups.removeFirst() }
        groups.append(Group(kind: group.kind, satellites: group.satellites, receivedAt: now))
        hasChanged = true
    }

    private mutating func addUsedSatellites(_ fields: FieldCursor, talker: UInt16, epoch: Int, at now: Duration) {
        let ids = UsedSentence(fields, talker: talker).satellites
        if usedEpoch?.serial != epoch {
            usedSatellites = (usedSatellites.current, usedSatellites.previous)
            usedSatellites.current.removeAll(keepingCapacity: true)
        }
        usedEpoch = (epoch, now)
        usedSatellites.current.formUnion(ids)
        hasChanged = true
    }
}

/// A sentence of a GSV group, which lists satellites in view.
private struct InViewSentence {
    let partCount: Int
    let partNumber: Int
    /// The ID of the signal, from the last field; 0 if that field is missing.
    private(set) var signal: UInt8 = 0
    private(set) var satellites: [Satellite] = []

    /// Reads a GSV sentence; `nil` if a count or a satellite's number is faulty.
    init?(_ sentence: FieldCursor, talker: UInt16) {
        var fields = sentence
        // The sentence contains three counts, four fields per satellite, and in newer versions the signal. One maker
        // adds the system after the signal.
        let beyond = fields.remainingFieldCount - 3
        guard beyond >= 0, beyond % 4 < 3, let partCount = fields.readInteger(in: 1...99),
            let partNumber = fields.readInteger(in: 1...partCount)
        else { return nil }
        self.partCount = partCount
        self.partNumber = partNumber
        let stated = beyond % 4 == 2 ? fields.systemID(after: beyond) : SatelliteSystem(talker: talker)
        fields.skip()
        for _ in 0..<beyond / 4 {
            fields.fault = .none  // elevation, azimuth and signal may be faulty
            let number = fields.readInteger(in: 0...999)
            if number == nil, fields.fault != .none { return nil }
            let elevation = fields.readInteger(in: -90...90)
            let azimuth = fields.readInteger(in: 0...360)
            // If the satellite isn't tracked, the field for its signal is 0 or empty.
            let signal = fields.readInteger(in: 0...99).flatMap { $0 > 0 ? $0 : nil }
            guard let number, number > 0, let system = SatelliteSystem(ofSatellite: number, stated: stated) else {
                continue
            }
            satellites.append(
                Satellite(
                    system, number, elevation: elevation, azimuth: azimuth.map { $0 % 360 }, signal: signal))
        }
        if beyond % 4 > 0 { signal = UInt8(truncatingIfNeeded: fields.readWord()) }
    }
}

/// The satellites in a GSA sentence, which the receiver uses for its position.
private struct UsedSentence {
    private(set) var satellites: [Satellite.ID] = []

    init(_ sentence: FieldCursor, talker: UInt16) {
        var fields = sentence
        // The sentence contains two flags, twelve satellites (24 from one receiver), three dilutions, and in newer
        // versions a system.
        let places = fields.remainingFieldCount >= 29 ? 24 : 12
        let stated = fields.systemID(after: places + 5) ?? SatelliteSystem(talker: talker)
        fields.skip(2)
        for _ in 0..<places {
            guard let number = fields.readInteger(in: 1...999),
                let system = SatelliteSystem(ofSatellite: number, stated: stated)
            else { continue }
            satellites.append(Satellite.ID(system, number))
        }
    }
}

extension SatelliteSystem {
    /// Creates the system for a talker whose first byte is in the lowest bits; `nil` if the talker stands for several
    /// systems.
    fileprivate init?(talker: UInt16) {
        switch UInt64(talker) {
        case SentenceType.code("GP"): self = .gps
        case SentenceType.code("GL"): self = .glonass
        case SentenceType.code("GA"): self = .galileo
        case SentenceType.code("GB"), SentenceType.code("BD"), SentenceType.code("PQ"): self = .beiDou
        case SentenceType.code("GQ"), SentenceType.code("QZ"): self = .qzss
        case SentenceType.code("GI"): self = .navIC
        default: return nil
        }
    }
}

extension FieldCursor {
    /// Returns the system whose ID is in the field after `count` fields; `nil` if that field isn't an integer. One
    /// maker sends a fraction there.
    fileprivate func systemID(after count: Int) -> SatelliteSystem? {
        var field = self
        field.skip(count)
        guard let number = field.readDecimal(), number.decimals == 0 else { return nil }
        return SatelliteSystem(systemID: Int(number.whole))
    }

    /// Reads a required number in `range` and drops its decimals; `nil` if the field is empty or faulty.
    fileprivate mutating func readInteger(in range: ClosedRange<Int>) -> Int? {
        guard let value = readDecimal() else { return nil }
        let number = value.isNegative ? -Int(value.whole) : Int(value.whole)
        guard range.contains(number) else {
            recordFault(.outOfRange)
            return nil
        }
        return number
    }
}
