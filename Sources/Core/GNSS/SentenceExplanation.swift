/// What becomes of the sentences on one line of a log, and why, in words.
///
/// It judges each sentence by itself; whether its epoch gave a fix depends on the others of the same time too.
package enum SentenceExplanation {
    /// One text for each thing on the line that begins like a sentence; a single one saying so where there is none.
    package static func texts(
        of line: Span<UInt8>, options: NMEADecoderOptions = NMEADecoderOptions()
    ) -> [String] {
        var texts: [String] = []
        var ended: [UInt8] = []
        for index in line.indices { ended.append(line[index]) }
        ended.append(UInt8(ascii: "\r"))  // the line's end, however the line was cut off
        if ended.first == UInt8(ascii: "#") { return ["a comment: not looked at"] }
        unsafe ended.withUnsafeBufferPointer { bytes in
            var index = 0
            while index < bytes.count {
                guard unsafe bytes[index] == UInt8(ascii: "$") || bytes[index] == UInt8(ascii: "!") else {
                    index += 1
                    continue
                }
                let frame = unsafe SentenceFrame(
                    in: bytes, startingAt: index, acceptsMissingChecksum: options.acceptsMissingChecksum)
                switch frame.outcome {
                case .sentence: unsafe texts.append(text(of: bytes, from: index, to: frame.end))
                case .refused(let reason):
                    let shown = unsafe String(decoding: bytes[index..<frame.end], as: UTF8.self)
                    texts.append("\(shown): refused: \(reason)")
                case .incomplete: texts.append("the end of the line cuts a sentence off")
                }
                index = max(index + 1, frame.next)
            }
        }
        return texts.isEmpty ? ["nothing here begins like a sentence"] : texts
    }

    private static func text(of bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> String {
        let (address, length) = unsafe NMEADecoder.address(in: bytes, from: start + 1, to: end)
        let name = unsafe String(decoding: bytes[(start + 1)..<(start + 1 + length)], as: UTF8.self)
        guard unsafe bytes[start] == UInt8(ascii: "$") else {
            return "\(name): a message of ships' transponders: never a position of ours"
        }
        guard let base = bytes.baseAddress else { return name }
        var fields = unsafe FieldCursor(from: base + min(start + length + 2, end), to: base + end)
        switch SentenceType(address: address, length: length) {
        case .rmc: return "\(name): \(text(PositionSentence(rmc: &fields), fields))"
        case .gga: return "\(name): \(text(PositionSentence(gga: &fields), fields))"
        case .gns: return "\(name): \(text(PositionSentence(gns: &fields), fields))"
        case .gll: return "\(name): \(text(PositionSentence(gll: &fields), fields))"
        case .vtg:
            guard let sentence = MotionSentence(vtg: &fields) else { return "\(name): \(refusal(fields))" }
            let isUsed = sentence.status != .void && sentence.status != .excluded
            return
                "\(name): \(isUsed ? "speed and course are used where RMC has none" : "its mode says not valid: not used")"
        case .gsa:
            let isRead = SatellitesSentence(gsa: &fields) != nil
            return "\(name): \(isRead ? "solution mode and HDOP are used" : refusal(fields))"
        case .zda:
            let isRead = DateSentence(zda: &fields) != nil
            return
                "\(name): \(isRead ? "dates the fix beside it" : fields.fault == .none ? "states no date" : refusal(fields))"
        case .pubx00, .pubx04: return "\(name): u-blox's own: its position (00) and date (04) are used"
        case .gst, .gbs, .pgrme, .pqtmepe, .psrfepe: return "\(name): its error estimate is used as accuracy"
        case .dtm: return "\(name): \(ReceiverNotice.warning(dtm: &fields)?.description ?? "WGS 84, as it should be")"
        case .txt:
            return "\(name): \(ReceiverNotice.warning(txt: &fields)?.description ?? "a notice without consequence")"
        case .hdt:
            return "\(name): \(HeadingSentence(hdt: &fields) == nil ? refusal(fields) : "the heading of the body")"
        case .ths:
            return "\(name): \(HeadingSentence(ths: &fields) == nil ? refusal(fields) : "the heading of the body")"
        case .other: return "\(name): checksum right; nothing in it is needed for a fix"
        }
    }

    private static func text(_ sentence: PositionSentence?, _ fields: FieldCursor) -> String {
        guard let sentence else { return refusal(fields) }
        switch sentence.status {
        case .void: return "its flags say that there is no position: its whole epoch gives no fix"
        case .excluded: return "simulated or typed in by hand: its whole epoch gives no fix"
        case .valid where sentence.latitude == nil: return "flagged valid, but without a position"
        case .valid where sentence.timeOfDay == nil:
            return "a position without a time: used only beside one with a time"
        case .valid where sentence.latitude == 0 && sentence.longitude == 0:
            return ReceiverWarning.nullIsland.description
        case .valid:
            let place = "\(sentence.latitude ?? 0), \(sentence.longitude ?? 0)"
            return "valid (\(sentence.quality?.rawValue ?? "quality not stated")): position \(place)"
        case .unstated: return "no flag vouches for its position: used only if another sentence of its epoch does"
        }
    }

    private static func refusal(_ fields: FieldCursor) -> String {
        "refused: \(fields.fault == .outOfRange ? SentenceRefusal.outOfRange : .malformedField)"
    }
}
