/// Puts GSV and GSA together, as they come, to what a receiver sees: a decision, without a clock of its own.
///
/// GSV comes in groups of sentences, one group a system, or since NMEA 4.10 one a system and signal; a group counts
/// when it is complete, and until the next of its kind. GSA says which satellites the position of an epoch is made of.
/// Nothing of this delays or changes a fix.
struct SkyAssembler: Sendable {
    /// A group of GSV sentences that is complete.
    private struct Group {
        let kind: Kind
        let satellites: [Satellite]
        let at: Duration
    }

    /// What a group is about: the same again takes its place.
    private struct Kind: Hashable {
        let talker: UInt16
        let signal: UInt8
    }

    /// A group of which sentences are still to come.
    private struct Incoming {
        let kind: Kind
        let parts: Int
        var nextPart: Int
        var satellites: [Satellite]
    }

    private var groups: [Group] = []
    private var incoming: Incoming?
    /// Of the last epoch that is over, and of the one that GSA speaks of now.
    private var used: (last: Set<Satellite.ID>, current: Set<Satellite.ID>) = ([], [])
    private var usedEpoch: (serial: Int, at: Duration)?
    /// Whether anything has come since `takeSky` gave a sky.
    private var hasNews = false

    /// What a receiver has not repeated for so long is not known any more; some send GSV every tenth second only.
    private static let longestLife = Duration.seconds(30)
    private static let mostGroups = 32
    /// A group that goes on for longer is none.
    private static let mostParts = 16

    /// The addresses of the sentences that count here, without their talkers; see `NMEADecoder.address`.
    private static let gsv = SentenceType.code("GSV")
    private static let gsa = SentenceType.code("GSA")

    /// Takes a sentence by its address of five bytes, if it is one of those that count here; `epoch` counts epochs.
    @inline(__always)
    mutating func take(_ address: UInt64, _ fields: FieldCursor, epoch: Int, at now: Duration) {
        let talker = UInt16(truncatingIfNeeded: address)
        switch address >> 16 {
        case Self.gsv: takeInView(talker, fields, at: now)
        case Self.gsa: takeUsed(talker, fields, epoch: epoch, at: now)
        default: break
        }
    }

    /// What is seen at `now`, if anything has come since this was asked last.
    mutating func takeSky(at now: Duration) -> Sky? {
        guard hasNews else { return nil }
        hasNews = false
        groups.removeAll { now - $0.at > Self.longestLife }
        var isUsed = used.last.isEmpty ? used.current : used.last
        if let usedEpoch, now - usedEpoch.at > Self.longestLife { isUsed = [] }
        let inView = groups.lazy.flatMap(\.satellites)
        return Sky(Array(inView) + isUsed.map { Satellite($0.system, $0.number, isUsed: true) })
    }

    private mutating func takeInView(_ talker: UInt16, _ fields: FieldCursor, at now: Duration) {
        guard let sentence = InViewSentence(fields, talker: talker), sentence.parts <= Self.mostParts else {
            incoming = nil
            return
        }
        if sentence.part == 1 {
            incoming = Incoming(
                kind: Kind(talker: talker, signal: sentence.signal), parts: sentence.parts, nextPart: 1, satellites: [])
        }
        // A part is missing, or of another group: what there is says too little.
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
        if groups.count == Self.mostGroups { groups.removeFirst() }
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

/// One of a group of GSV sentences: satellites in view.
private struct InViewSentence {
    let parts: Int
    let part: Int
    /// Of the last field, if there is one; 0 when none is stated.
    private(set) var signal: UInt8 = 0
    private(set) var satellites: [Satellite] = []

    /// `nil` when a count, or the number of a satellite, is at fault.
    init?(_ sentence: FieldCursor, talker: UInt16) {
        var fields = sentence
        // Parts, part and how many there are in view; four fields a satellite; then perhaps a signal, and of one maker
        // a system.
        let beyond = fields.fieldsLeft - 3
        guard beyond >= 0, beyond % 4 < 3, let parts = fields.integer(in: 1...99),
            let part = fields.integer(in: 1...parts)
        else { return nil }
        self.parts = parts
        self.part = part
        let stated = beyond % 4 == 2 ? fields.systemID(behind: beyond) : SatelliteSystem(talker: talker)
        fields.skip()
        for _ in 0..<beyond / 4 {
            fields.fault = .none  // a value that is at fault is as good as absent, but for the number
            let number = fields.integer(in: 0...999)
            if number == nil, fields.fault != .none { return nil }
            let elevation = fields.integer(in: -90...90)
            let azimuth = fields.integer(in: 0...360)
            // 0 stands for a satellite that is not tracked, and for none.
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

/// GSA: the satellites that a position is made of.
private struct UsedSentence {
    private(set) var satellites: [Satellite.ID] = []

    init(_ sentence: FieldCursor, talker: UInt16) {
        var fields = sentence
        // Two flags, twelve satellites (one receiver sends twice as many), three dilutions, perhaps a system.
        let places = fields.fieldsLeft >= 29 ? 24 : 12
        let stated = fields.systemID(behind: places + 5) ?? SatelliteSystem(talker: talker)
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
    /// The system of a talker, given as its two bytes, first byte lowest; `nil` for one that speaks of several.
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
    /// The system that the field behind `count` others states; another maker has a fraction in that place.
    fileprivate func systemID(behind count: Int) -> SatelliteSystem? {
        var field = self
        field.skip(count)
        guard let number = field.decimal(), number.decimals == 0 else { return nil }
        return SatelliteSystem(systemID: Int(number.whole))
    }

    /// A whole number in `range`, a fraction cut off; `nil` when the field is empty or at fault, which is noted.
    fileprivate mutating func integer(in range: ClosedRange<Int>) -> Int? {
        guard let value = decimal() else { return nil }
        let number = value.isNegative ? -Int(value.whole) : Int(value.whole)
        guard range.contains(number) else {
            note(.outOfRange)
            return nil
        }
        return number
    }
}
