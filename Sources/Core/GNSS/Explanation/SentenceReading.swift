import ReportedText

/// The meaning of one sentence, read without the other sentences of its epoch.
struct SentenceReading {
    /// A description of the meaning; `nil` if the sentence is rejected because of a field.
    private(set) var meaning: String?
    /// The values of a fix that the sentence contains.
    private(set) var parts: [EpochPart] = []
    /// The faulty field, such as `field 6 (E or W) is "X"`. It is `nil` if no field is faulty, or if the fault is a
    /// missing latitude or longitude.
    private(set) var faultyField: String?

    /// Reads `sentence` from start byte to checksum, as the decoder does.
    init(of sentence: [UInt8]) {
        guard sentence.first == UInt8(ascii: "$") else {
            meaning = "a ship transponder's message: never this vehicle's position"
            return
        }
        let type = SentenceType.addressAndType(in: sentence).type
        let end = sentence.firstIndex(of: UInt8(ascii: "*")) ?? sentence.count
        let start = min((sentence.firstIndex(of: UInt8(ascii: ",")) ?? end) + 1, end)
        // The cursor needs a readable byte after the last field.
        let readable = sentence + [UInt8(ascii: "\r")]
        unsafe readable.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            let text = unsafe SentenceText(fields: base + start, end: base + end, readableEnd: base + bytes.count)
            var fields = FieldCursor(text)
            if type == .pubx00 || type == .pubx04 { fields.skip() }
            read(&fields, of: type)
            guard fields.hasFault else { return }
            let fault = FieldFault(fields, of: type, in: text)
            guard fault.number > 0 else { return }
            let number = Int(fault.number)
            let name = type.fieldName(number).map { " (\($0))" } ?? ""
            faultyField = "field \(number)\(name) is \"\(SentenceType.field(number, in: sentence))\""
        }
    }

    private mutating func read(_ fields: inout FieldCursor, of type: SentenceType) {
        var cache = FieldCache()
        switch type {
        case .rmc, .gga, .gns, .gll, .pubx00: describe(PositionSentence(type, &fields, &cache))
        case .vtg: describe(MotionSentence(vtg: &fields))
        case .gsa: describe(SatellitesSentence(gsa: &fields))
        case .gst, .gbs, .pgrme, .pqtmepe, .psrfepe: describe(AccuracySentence(type, &fields))
        case .zda, .pubx04:
            let date = DateSentence(type, &fields)
            if date != nil {
                meaning = "a date for a nearby fix that has no date"
            } else if fields.fault == .none {
                meaning = "no date"
            }
        case .hdt, .ths: describe(HeadingSentence(type, &fields))
        case .dtm:
            meaning =
                ReceiverNotice.warning(dtm: &fields).map { "the warning \($0.label)" } ?? "WGS 84, as required"
        case .txt:
            meaning =
                ReceiverNotice.warning(txt: &fields).map { "the warning \($0.label)" } ?? "a notice without consequence"
        case .other: meaning = "its type contains nothing that a fix needs: only counted"
        }
    }

    private mutating func describe(_ sentence: PositionSentence?) {
        guard let sentence else { return }
        if sentence.latitude != nil { parts.append(.position) }
        addPart(.date, ifPresent: sentence.date)
        addPart(.speed, ifPresent: sentence.speedMetersPerSecond)
        addPart(.course, ifPresent: sentence.courseDegrees)
        addPart(.altitude, ifPresent: sentence.altitudeMeters)
        addPart(.accuracy, ifPresent: sentence.horizontalAccuracyMeters)
        addPart(.hdop, ifPresent: sentence.hdop)
        addPart(.geoidSeparation, ifPresent: sentence.geoidSeparationMeters)
        addPart(.satellitesUsed, ifPresent: sentence.satellitesUsed)
        switch sentence.status {
        case .void: meaning = "its flags say that there is no position"
        case .excluded: meaning = "a position that is simulated or entered by hand"
        case .unconfirmed: meaning = "a position that no flag confirms: another sentence of its epoch must confirm it"
        case .valid where sentence.latitude == nil: meaning = "flagged valid, but without a position"
        case .valid:
            let quality = sentence.quality?.rawValue ?? "quality not reported"
            meaning = "valid (\(quality)), position \(sentence.latitude ?? 0), \(sentence.longitude ?? 0)"
        }
        if sentence.timeOfDay == nil { meaning = meaning.map { "\($0); it contains no time" } }
    }

    private mutating func describe(_ sentence: MotionSentence) {
        if sentence.status == .void || sentence.status == .excluded {
            meaning = "its mode says that speed and course are not valid"
            return
        }
        addPart(.speed, ifPresent: sentence.speedMetersPerSecond)
        addPart(.course, ifPresent: sentence.courseDegrees)
        meaning = parts.isEmpty ? "neither speed nor course" : "speed and course, for a fix that has none from RMC"
    }

    private mutating func describe(_ sentence: SatellitesSentence) {
        addPart(.mode, ifPresent: sentence.mode)
        addPart(.hdop, ifPresent: sentence.hdop)
        meaning =
            sentence.mode == nil
            ? "says that there is no fix, but doesn't void a fix by itself" : "solution mode and HDOP"
    }

    private mutating func describe(_ sentence: AccuracySentence?) {
        guard let sentence else { return }
        addPart(.accuracy, ifPresent: sentence.horizontalAccuracyMeters)
        meaning = sentence.horizontalAccuracyMeters.map { "a horizontal error of \($0) m" } ?? "no error estimate"
    }

    private mutating func describe(_ sentence: HeadingSentence?) {
        guard let sentence else { return }
        meaning = sentence.headingDegrees.map { "the vehicle's front points to \($0) degrees" } ?? "no heading"
    }

    private mutating func addPart<Value>(_ part: EpochPart, ifPresent value: Value?) {
        if value != nil { parts.append(part) }
    }
}

/// The fields of a sentence and their names, for explanations.
extension SentenceType {
    /// Whether a sentence of this type belongs to a single epoch. Dates (ZDA) and headings (HDT, THS) apply to several
    /// epochs.
    var belongsToEpoch: Bool {
        switch self {
        case .rmc, .gga, .gns, .gll, .vtg, .gsa, .gst, .gbs, .pubx00, .pgrme, .pqtmepe, .psrfepe: true
        case .zda, .pubx04, .dtm, .txt, .hdt, .ths, .other: false
        }
    }

    /// Returns the address and type of `sentence`, which begins with its start byte.
    static func addressAndType(in sentence: some Collection<UInt8>) -> (address: String, type: SentenceType) {
        let bytes = Array(
            sentence.dropFirst().prefix { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "*") }
        )
        var word: UInt64 = 0
        for (index, byte) in bytes.prefix(8).enumerated() { word |= UInt64(byte) << UInt64(index * 8) }
        var type = sentence.first == UInt8(ascii: "$") ? SentenceType(address: word, length: bytes.count) : .other
        if type == .pubx00 { type = SentenceType(ubloxMessage: Int64(field(1, in: sentence))) }
        return (String(decoding: bytes.prefix(20), as: UTF8.self), type)
    }

    /// Returns the text of field `number`, counted from 1 after the address; empty if there is no such field.
    static func field(_ number: Int, in sentence: some Collection<UInt8>) -> String {
        let fields = sentence.prefix { $0 != UInt8(ascii: "*") }
            .split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        return number < fields.count ? String(decoding: fields[number], as: UTF8.self) : ""
    }

    /// Returns the flags of the sentence's position, such as `status V, mode N`.
    func flags(in sentence: some Collection<UInt8>) -> String {
        let fields: [(name: String, number: Int)] =
            switch self {
            case .rmc: [("status", 2), ("mode", 12)]
            case .gga: [("quality", 6)]
            case .gns: [("mode", 6)]
            case .gll: [("status", 6), ("mode", 7)]
            case .pubx00: [("status", 8)]
            default: []
            }
        return fields.compactMap { name, number in
            let text = Self.field(number, in: sentence)
            return text.isEmpty ? nil : "\(name) \(text)"
        }.joined(separator: ", ")
    }

    /// Returns the name of field `number`, counted from 1 after the address; `nil` if there is no such field.
    func fieldName(_ number: Int) -> String? {
        let names = fieldNames.split(separator: ",")
        return names.indices.contains(number - 1) ? String(names[number - 1]) : nil
    }

    private var fieldNames: String {
        switch self {
        case .rmc:
            "time,status,latitude,N or S,longitude,E or W,speed,course,date,magnetic variation,E or W,mode,navigation status"
        case .gga:
            "time,latitude,N or S,longitude,E or W,quality,satellites used,HDOP,altitude,M,geoid separation,M,age,station"
        case .gns:
            "time,latitude,N or S,longitude,E or W,mode,satellites used,HDOP,altitude,geoid separation,age,station"
        case .gll: "latitude,N or S,longitude,E or W,time,status,mode"
        case .vtg: "course,T,magnetic course,M,speed in knots,N,speed in km/h,K,mode"
        case .gsa:
            "selection,solution mode,satellite,satellite,satellite,satellite,satellite,satellite,satellite,satellite,"
                + "satellite,satellite,satellite,satellite,PDOP,HDOP,VDOP,system"
        case .gst: "time,RMS,semi-major axis,semi-minor axis,orientation,latitude error,longitude error,altitude error"
        case .gbs: "time,latitude error,longitude error,altitude error"
        case .zda: "time,day,month,year,zone hours,zone minutes"
        case .pubx00:
            "message,time,latitude,N or S,longitude,E or W,altitude,status,horizontal accuracy,vertical accuracy,speed,"
                + "course,vertical speed,age,HDOP,VDOP,TDOP,satellites used"
        case .pubx04: "message,time,date"
        case .pgrme: "horizontal error"
        case .pqtmepe: "version,north error,east error,down error,horizontal error"
        case .psrfepe: "time,status,HDOP,horizontal error"
        case .hdt: "heading,T"
        case .ths: "heading,mode"
        case .dtm, .txt, .other: ""
        }
    }
}
