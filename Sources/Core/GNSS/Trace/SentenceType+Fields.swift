/// A sentence's fields by name, for explanations.
extension SentenceType {
    /// Whether an explanation names it among the sentences that made an epoch. A date (ZDA) and a compass (HDT, THS)
    /// hold for more than one.
    var belongsToEpoch: Bool {
        switch self {
        case .rmc, .gga, .gns, .gll, .vtg, .gsa, .gst, .gbs, .pubx00, .pgrme, .pqtmepe, .psrfepe: true
        case .zda, .pubx04, .dtm, .txt, .hdt, .ths, .other: false
        }
    }

    /// The address and type of a sentence that begins with its start byte.
    static func named(in sentence: some Collection<UInt8>) -> (address: String, type: SentenceType) {
        let bytes = Array(
            sentence.dropFirst().prefix { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "*") }
        )
        var word: UInt64 = 0
        for (index, byte) in bytes.prefix(8).enumerated() { word |= UInt64(byte) << UInt64(index * 8) }
        var type = sentence.first == UInt8(ascii: "$") ? SentenceType(address: word, length: bytes.count) : .other
        if type == .pubx00 {
            switch field(1, in: sentence) {
            case "00": break
            case "04": type = .pubx04
            default: type = .other
            }
        }
        return (String(decoding: bytes.prefix(20), as: UTF8.self), type)
    }

    /// The text of field `number`, counted from 1 behind the address; empty where there is none.
    static func field(_ number: Int, in sentence: some Collection<UInt8>) -> String {
        let fields = sentence.prefix { $0 != UInt8(ascii: "*") }
            .split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        return number < fields.count ? String(decoding: fields[number], as: UTF8.self) : ""
    }

    /// What the sentence says about its position, as `status V, mode N`.
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

    /// What field `number` is called, counted from 1 behind the address.
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
