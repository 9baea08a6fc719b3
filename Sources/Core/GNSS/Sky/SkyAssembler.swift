/// Combines GSV and GSA sentences into a receiver's sky. The caller passes the time, because there is no clock here.
///
/// A receiver sends GSV sentences in groups: one group per system and, since NMEA 4.10, per signal. A complete group is
/// valid until the next group with the same talker and signal is complete. GSA lists the satellites that are used for
/// an epoch's position. Assembling the sky neither delays nor changes a fix.
struct SkyAssembler: Sendable {
    /// A complete group of GSV sentences.
    private struct Group {
        let kind: Kind
        let satellites: [Satellite]
        let at: Duration
    }

    /// The talker and signal of a group. A group replaces the previous group with the same talker and signal.
    private struct Kind: Hashable {
        let talker: UInt16
        let signal: UInt8
    }

    private struct IncompleteGroup {
        let kind: Kind
        let parts: Int
        var nextPart: Int
        var satellites: [Satellite]
    }

    private var groups: [Group] = []
    private var incoming: IncompleteGroup?
    /// The satellites that were used for the previous epoch, and those that GSA has listed so far for the current
    /// epoch.
    private var used: (last: Set<Satellite.ID>, current: Set<Satellite.ID>) = ([], [])
    private var usedEpoch: (serial: Int, at: Duration)?
    /// Whether anything has been reported since `takeSky` last returned a sky.
    private var hasNews = false

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
    mutating func take(_ address: UInt64, _ fields: FieldCursor, epoch: Int, at now: Duration) {
        let talker = UInt16(truncatingIfNeeded: address)
        switch address >> 16 {
        case Self.gsv: takeInView(talker, fields, at: now)
        case Self.gsa: takeUsed(talker, fields, epoch: epoch, at: now)
        default: break
        }
    }

    /// Returns the sky at `now`; `nil` if nothing has been reported since the last call.
    mutating func takeSky(at now: Duration) -> Sky? {
        guard hasNews else { return nil }
        hasNews = false
        groups.removeAll { now - $0.at > Self.maximumAge }
        var isUsed = used.last.isEmpty ? used.current : used.last
        if let usedEpoch, now - usedEpoch.at > Self.maximumAge { isUsed = [] }
        let inView = groups.lazy.flatMap(\.satellites)
        return Sky(Array(inView) + isUsed.map { Satellite($0.system, $0.number, isUsed: true) })
    }

    private mutating func takeInView(_ talker: UInt16, _ fields: FieldCursor, at now: Duration) {
        guard let sentence = InViewSentence(fields, talker: talker), sentence.parts <= Self.maximumParts else {
            incoming = nil
            return
        }
        if sentence.part == 1 {
            incoming = IncompleteGroup(
                kind: Kind(talker: talker, signal: sentence.signal), parts: sentence.parts, nextPart: 1, satellites: [])
        }
        // If a sentence of the group is missing or belongs to another group, the group is dropped.
        guard var group = incoming, group.kind.talker == talker, group.parts == sentence.parts,
            group.nextPart == sentence.part
        else {
            incoming = nil
            return
        }
        group.satellites += sentence.satellites
        group.nextPart += 1
        guard sentence.part == group.parts else {
            incoming = group
            return
        }
        incoming = nil
        groups.removeAll { $0.kind == group.kind }
        if groups.count == Self.maximumGroups { groups.removeFirst() }
        groups.append(Group(kind: group.kind, satellites: group.satellites, at: now))
        hasNews = true
    }

    private mutating func takeUsed(_ talker: UInt16, _ fields: FieldCursor, epoch: Int, at now: Duration) {
        let ids = UsedSentence(fields, talker: talker).satellites
        if usedEpoch?.serial != epoch {
            used = (used.current, used.last)
            used.current.removeAll(keepingCapacity: true)
        }
        usedEpoch = (epoch, now)
        used.current.formUnion(ids)
        hasNews = true
    }
}

/// A sentence of a GSV group. It lists satellites in view.
private struct InViewSentence {
    let parts: Int
    let part: Int
    /// The ID of the signal, from the last field; 0 if that field is missing.
    private(set) var signal: UInt8 = 0
    private(set) var satellites: [Satellite] = []

    /// Reads a GSV sentence; `nil` if a count or a satellite's number is faulty.
    init?(_ sentence: FieldCursor, talker: UInt16) {
        var fields = sentence
        // The sentence has three counts, four fields per satellite, and in newer versions the signal. One maker adds
        // the system after that.
        let beyond = fields.fieldsLeft - 3
        guard beyond >= 0, beyond % 4 < 3, let parts = fields.integer(in: 1...99),
            let part = fields.integer(in: 1...parts)
        else { return nil }
        self.parts = parts
        self.part = part
        let stated = beyond % 4 == 2 ? fields.systemID(after: beyond) : SatelliteSystem(talker: talker)
        fields.skip()
        for _ in 0..<beyond / 4 {
            fields.fault = .none  // elevation, azimuth and signal may be faulty
            let number = fields.integer(in: 0...999)
            if number == nil, fields.fault != .none { return nil }
            let elevation = fields.integer(in: -90...90)
            let azimuth = fields.integer(in: 0...360)
            // If the satellite isn't tracked, the field for its signal is 0 or empty.
            let signal = fields.integer(in: 0...99).flatMap { $0 > 0 ? $0 : nil }
            guard let number, number > 0, let system = SatelliteSystem(ofSatellite: number, stated: stated) else {
                continue
            }
            satellites.append(
                Satellite(
                    system, number, elevation: elevation, azimuth: azimuth.map { $0 % 360 }, signal: signal))
        }
        if beyond % 4 > 0 { signal = UInt8(truncatingIfNeeded: fields.word()) }
    }
}

/// The satellites in a GSA sentence. The receiver uses them for its position.
private struct UsedSentence {
    private(set) var satellites: [Satellite.ID] = []

    init(_ sentence: FieldCursor, talker: UInt16) {
        var fields = sentence
        // The sentence has two flags, twelve satellites (24 from one receiver), three dilutions, and in newer versions
        // a system.
        let places = fields.fieldsLeft >= 29 ? 24 : 12
        let stated = fields.systemID(after: places + 5) ?? SatelliteSystem(talker: talker)
        fields.skip(2)
        for _ in 0..<places {
            guard let number = fields.integer(in: 1...999),
                let system = SatelliteSystem(ofSatellite: number, stated: stated)
            else { continue }
            satellites.append(Satellite.ID(system, number))
        }
    }
}

extension SatelliteSystem {
    /// Finds the system for a talker whose first byte is in the lowest bits; `nil` if the talker stands for several
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
        guard let number = field.decimal(), number.decimals == 0 else { return nil }
        return SatelliteSystem(systemID: Int(number.whole))
    }

    /// Reads a required number in `range` and drops its decimals; `nil` if the field is empty or faulty.
    fileprivate mutating func integer(in range: ClosedRange<Int>) -> Int? {
        guard let value = decimal() else { return nil }
        let number = value.isNegative ? -Int(value.whole) : Int(value.whole)
        guard range.contains(number) else {
            recordFault(.outOfRange)
            return nil
        }
        return number
    }
}
