/// What becomes of one sentence whose checksum agrees.
extension NMEADecoder {
    /// Reads the sentence whose start byte is at `start` and whose fields end at `end`.
    @inline(__always)
    mutating func handle(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int, _ emit: (Fix) -> Void
    ) {
        let (address, length) = unsafe Self.address(in: bytes, from: start + 1, to: end)
        account.addresses.add(address)
        guard unsafe bytes[start] == UInt8(ascii: "$") else { return }
        let type = SentenceType(address: address, length: length)
        if type == .txt || type == .other {
            unsafe noteBanner(bytes, address, from: min(start + length + 2, end), to: end, isText: type == .txt)
        }
        guard type != .other, let base = bytes.baseAddress else { return }
        var fields = unsafe FieldCursor(from: base + min(start + length + 2, end), to: base + end)
        if !read(type, at: start, &fields, emit) {
            account.add(
                fields.fault == .outOfRange ? .outOfRange : .malformedField, line: account.lines + 1,
                byte: origin + start)
        }
        noteWarnings(at: origin + start)
    }

    /// Keeps what a receiver says of itself; `isText` for TXT, whose words stand behind three numbers.
    @inline(__always)
    private mutating func noteBanner(
        _ bytes: UnsafeBufferPointer<UInt8>, _ address: UInt64, from start: Int, to end: Int, isText: Bool
    ) {
        guard isText || ReceiverBanners.states(address) else { return }
        var (place, numbers) = (start, isText ? 3 : 0)
        while numbers > 0, place < end {
            if unsafe bytes[place] == UInt8(ascii: ",") { numbers -= 1 }
            place += 1
        }
        unsafe account.receiverBanners.note(bytes, from: place, to: end)
    }

    /// Counts what the assembler has found, as seen at a place in the stream.
    @inline(__always)
    mutating func noteWarnings(at byte: Int) {
        while let warning = assembler.takeWarning() { warn(warning, line: account.lines + 1, byte: byte) }
    }

    /// Gives the sentence to the assembler; `false` when a field is at fault.
    @inline(__always)
    private mutating func read(_ type: SentenceType, at start: Int, _ fields: inout FieldCursor, _ emit: (Fix) -> Void)
        -> Bool
    {
        switch type {
        case .rmc:
            guard let sentence = PositionSentence(rmc: &fields) else { return false }
            assembler.take(sentence, type, emit)
        case .gga:
            guard let sentence = PositionSentence(gga: &fields) else { return false }
            assembler.take(sentence, type, emit)
        case .gns:
            guard let sentence = PositionSentence(gns: &fields) else { return false }
            assembler.take(sentence, type, emit)
        case .gll:
            guard let sentence = PositionSentence(gll: &fields) else { return false }
            assembler.take(sentence, type, emit)
        case .vtg:
            guard let sentence = MotionSentence(vtg: &fields) else { return false }
            assembler.take(sentence, emit)
        case .gsa:
            guard let sentence = SatellitesSentence(gsa: &fields) else { return false }
            assembler.take(sentence, emit)
        case .gst:
            guard let sentence = AccuracySentence(gst: &fields) else { return false }
            assembler.take(sentence, type, emit)
        case .gbs:
            guard let sentence = AccuracySentence(gbs: &fields) else { return false }
            assembler.take(sentence, type, emit)
        case .pgrme:
            guard let sentence = AccuracySentence(pgrme: &fields) else { return false }
            assembler.take(sentence, type, emit)
        case .pqtmepe:
            guard let sentence = AccuracySentence(pqtmepe: &fields) else { return false }
            assembler.take(sentence, type, emit)
        case .psrfepe:
            guard let sentence = AccuracySentence(psrfepe: &fields) else { return false }
            assembler.take(sentence, type, emit)
        case .zda:
            guard let sentence = DateSentence(zda: &fields) else { return fields.fault == .none }
            assembler.take(sentence, emit)
        case .hdt:
            guard let sentence = HeadingSentence(hdt: &fields) else { return false }
            assembler.take(sentence)
        case .ths:
            guard let sentence = HeadingSentence(ths: &fields) else { return false }
            assembler.take(sentence)
        case .pubx00, .pubx04: return readMakersPosition(&fields, emit)
        case .dtm:
            if let warning = ReceiverNotice.warning(dtm: &fields) {
                warn(warning, line: account.lines + 1, byte: origin + start)
            }
        case .txt:
            if let warning = ReceiverNotice.warning(txt: &fields) {
                warn(warning, line: account.lines + 1, byte: origin + start)
            }
        case .other: break
        }
        return true
    }

    /// PUBX: the first field tells which of u-blox's own sentences it is.
    private mutating func readMakersPosition(_ fields: inout FieldCursor, _ emit: (Fix) -> Void) -> Bool {
        switch fields.decimal()?.whole {
        case 0:
            guard let sentence = PositionSentence(pubx00: &fields) else { return false }
            assembler.take(sentence, .pubx00, emit)
        case 4:
            guard let sentence = DateSentence(pubx04: &fields) else { return fields.fault == .none }
            assembler.take(sentence, emit)
        default: break
        }
        return true
    }

    /// The address at `start`: its first eight bytes, first byte lowest, and its length.
    @inline(__always)
    static func address(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int
    ) -> (address: UInt64, length: Int) {
        if start + 8 <= bytes.count {
            let raw = UnsafeRawBufferPointer(bytes)
            let word = unsafe UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: start, as: UInt64.self))
            let comma = WordScan.marks(of: UInt8(ascii: ","), in: word)
            let length = comma.trailingZeroBitCount / 8
            if comma != 0, start + length <= end { return (word & ((1 << UInt64(length * 8)) &- 1), length) }
        }
        var address: UInt64 = 0
        var length = 0
        while start + length < end, unsafe bytes[start + length] != UInt8(ascii: ",") {
            if length < 8 { unsafe address |= UInt64(bytes[start + length]) << UInt64(length * 8) }
            length += 1
        }
        return (address, length)
    }
}
