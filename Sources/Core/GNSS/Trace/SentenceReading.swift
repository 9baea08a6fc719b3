/// What one sentence says by itself, in words, before its epoch is looked at.
struct SentenceReading {
    /// What it says; `nil` when a field is at fault.
    private(set) var words: String?
    /// The parts of a fix that it states.
    private(set) var parts: [EpochPart] = []
    /// Number and text of the field at fault; `nil` where none is, or where it is half a position.
    private(set) var faultyField: (number: Int, text: String)?

    /// Reads `sentence`, start byte to checksum, with the decoder's own means.
    init(of sentence: [UInt8]) {
        guard sentence.first == UInt8(ascii: "$") else {
            words = "a message of ships' transponders: never a position of ours"
            return
        }
        let type = SentenceType.named(in: sentence).type
        let end = sentence.firstIndex(of: UInt8(ascii: "*")) ?? sentence.count
        let start = min((sentence.firstIndex(of: UInt8(ascii: ",")) ?? end) + 1, end)
        // The cursor needs a byte behind the last field.
        let readable = sentence + [UInt8(ascii: "\r")]
        unsafe readable.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            var fields = unsafe FieldCursor(from: base + start, to: base + end)
            if type == .pubx00 || type == .pubx04 { fields.skip() }
            read(type, &fields)
            guard words == nil, fields.fault == .malformed || fields.fault == .outOfRange else { return }
            let offset = unsafe fields.faultOffset(from: base + start)
            let before = sentence[start..<min(start + offset, end)]
            let isClosed = before.last == UInt8(ascii: ",")
            var number = before.count { $0 == UInt8(ascii: ",") } + (isClosed ? 0 : 1)
            // A coordinate is judged when its letter has been read, which has no range of its own.
            if fields.fault == .outOfRange, type.fieldName(number)?.contains(" or ") ?? false { number -= 1 }
            faultyField = (number, SentenceType.field(number, in: sentence))
        }
    }

    private mutating func read(_ type: SentenceType, _ fields: inout FieldCursor) {
        switch type {
        case .rmc: take(PositionSentence(rmc: &fields))
        case .gga: take(PositionSentence(gga: &fields))
        case .gns: take(PositionSentence(gns: &fields))
        case .gll: take(PositionSentence(gll: &fields))
        case .pubx00: take(PositionSentence(pubx00: &fields))
        case .vtg: take(MotionSentence(vtg: &fields))
        case .gsa: take(SatellitesSentence(gsa: &fields))
        case .gst: take(AccuracySentence(gst: &fields))
        case .gbs: take(AccuracySentence(gbs: &fields))
        case .pgrme: take(AccuracySentence(pgrme: &fields))
        case .pqtmepe: take(AccuracySentence(pqtmepe: &fields))
        case .psrfepe: take(AccuracySentence(psrfepe: &fields))
        case .zda: take(DateSentence(zda: &fields), isFaulty: fields.fault != .none)
        case .pubx04: take(DateSentence(pubx04: &fields), isFaulty: fields.fault != .none)
        case .hdt: take(HeadingSentence(hdt: &fields))
        case .ths: take(HeadingSentence(ths: &fields))
        case .dtm: words = ReceiverNotice.warning(dtm: &fields)?.description ?? "WGS 84, as it should be"
        case .txt: words = ReceiverNotice.warning(txt: &fields)?.description ?? "a notice without consequence"
        case .other: words = "its type holds nothing that a fix needs: only counted"
        }
    }

    private mutating func take(_ sentence: PositionSentence?) {
        guard let sentence else { return }
        if sentence.latitude != nil { parts.append(.position) }
        note(.date, sentence.date)
        note(.speed, sentence.speedMetersPerSecond)
        note(.course, sentence.courseDegrees)
        note(.altitude, sentence.altitudeMeters)
        note(.accuracy, sentence.horizontalAccuracyMeters)
        note(.hdop, sentence.hdop)
        note(.geoidSeparation, sentence.geoidSeparationMeters)
        note(.satellitesUsed, sentence.satellitesUsed)
        switch sentence.status {
        case .void: words = "its flags say that there is no position"
        case .excluded: words = "a position that is simulated or typed in by hand"
        case .unstated: words = "a position that no flag vouches for: another sentence of its epoch must"
        case .valid where sentence.latitude == nil: words = "flagged valid, but without a position"
        case .valid:
            let quality = sentence.quality?.rawValue ?? "quality not stated"
            words = "valid (\(quality)), position \(sentence.latitude ?? 0), \(sentence.longitude ?? 0)"
        }
        if sentence.timeOfDay == nil { words = words.map { "\($0); it states no time" } }
    }

    private mutating func take(_ sentence: MotionSentence?) {
        guard let sentence else { return }
        if sentence.status == .void || sentence.status == .excluded {
            words = "its mode says that speed and course are not valid"
            return
        }
        note(.speed, sentence.speedMetersPerSecond)
        note(.course, sentence.courseDegrees)
        words = parts.isEmpty ? "neither speed nor course" : "speed and course, for a fix that has none from RMC"
    }

    private mutating func take(_ sentence: SatellitesSentence?) {
        guard let sentence else { return }
        note(.mode, sentence.mode)
        note(.hdop, sentence.hdop)
        words = sentence.mode == nil ? "says that there is no fix, which alone voids none" : "solution mode and HDOP"
    }

    private mutating func take(_ sentence: AccuracySentence?) {
        guard let sentence else { return }
        note(.accuracy, sentence.horizontalAccuracyMeters)
        words = sentence.horizontalAccuracyMeters.map { "a horizontal error of \($0) m" } ?? "no error estimate"
    }

    private mutating func take(_ sentence: DateSentence?, isFaulty: Bool) {
        if sentence != nil {
            words = "a date for the fix beside it that has none"
        } else if !isFaulty {
            words = "states no date"
        }
    }

    private mutating func take(_ sentence: HeadingSentence?) {
        guard let sentence else { return }
        words = sentence.headingDegrees.map { "the vehicle's front points to \($0) degrees" } ?? "states no heading"
    }

    private mutating func note<Value>(_ part: EpochPart, _ value: Value?) {
        if value != nil { parts.append(part) }
    }
}
