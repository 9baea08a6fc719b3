/// Bytes of a receiver to fixes: the scanner and the epoch assembler behind one door.
///
/// Feed it chunks of any size; the same bytes give the same fixes however they are cut.
package struct NMEADecoder: Sendable {
    private let options: NMEADecoderOptions
    private var account = DecoderStatistics()
    private var assembler: EpochAssembler
    private let crc = CRC24Q()
    /// The beginning of a sentence or frame whose end has not come yet; its size never changes.
    private var carry = [UInt8](repeating: 0, count: BinaryFrame.maximumLength + Self.topUp)
    private var carried = 0
    /// Whether the last byte ended a line: only there `#` begins a comment.
    private var isAtLineStart = true
    private var isInComment = false
    private var lastReceivedAt: Duration?
    private var isWithBinary = false
    /// When the bytes came that completed the last fix, on the scale of `receivedAt`.
    package private(set) var lastFixReceivedAt: Duration?

    /// Bytes that are added to the carried ones at a time, until what they began is complete.
    private static let topUp = 512

    package init(options: NMEADecoderOptions = NMEADecoderOptions()) {
        self.options = options
        assembler = EpochAssembler(dates: options.dates)
    }

    /// What has been met so far.
    package var statistics: DecoderStatistics {
        var account = account
        account.epochs = assembler.epochs
        account.fixes = assembler.fixes
        account.voidEpochs = assembler.voidEpochs
        account.repeatedEpochs = assembler.repeatedEpochs
        account.undatedFixes = assembler.undatedDropped + assembler.undatedCount
        return account
    }

    /// Takes the next bytes; `receivedAt` is monotonic time since any fixed moment and only serves the idle time-out.
    package mutating func decode(_ bytes: Span<UInt8>, receivedAt: Duration, _ emit: (Fix) -> Void) {
        guard bytes.count > 0 else { return }
        lineIsIdle(at: receivedAt, emit)
        lastReceivedAt = receivedAt
        unsafe bytes.withUnsafeBufferPointer { unsafe decode($0, emit) }
    }

    /// When, on the scale of `receivedAt`, a quiet line completes the epoch under way; `nil` when none is.
    package var idleDeadline: Duration? {
        guard let lastReceivedAt, assembler.isWaiting || isWithBinary else { return nil }
        return lastReceivedAt + idleTime
    }

    /// A third of the interval between epochs, at most a quarter of a second.
    private var idleTime: Duration { .milliseconds(min(250, Int(assembler.intervalMilliseconds) * 3 / 10)) }

    /// Tells that the line has been quiet until `now`; completes the epoch once its deadline has passed.
    package mutating func lineIsIdle(at now: Duration, _ emit: (Fix) -> Void) {
        guard let lastReceivedAt, now >= lastReceivedAt + idleTime else { return }
        if isWithBinary { giveUpBinary(emit) }
        let before = assembler.fixes
        assembler.lineIsQuiet(emit)
        if assembler.fixes != before { lastFixReceivedAt = lastReceivedAt }
    }

    /// Tells that nothing more will come; completes the epoch under way.
    package mutating func finish(_ emit: (Fix) -> Void) {
        // A line end completes what the last bytes began.
        var ending = carry
        ending[carried] = UInt8(ascii: "\r")
        let count = carried + 1
        carried = 0
        isWithBinary = false
        unsafe ending.withUnsafeBufferPointer { buffer in
            _ = unsafe scan(UnsafeBufferPointer(rebasing: buffer[..<count]), from: 0, isFinal: true, emit)
        }
        assembler.finish(emit)
        (isAtLineStart, isInComment) = (true, false)
    }

    /// Takes what cannot be a binary frame any more, as the line is quiet within it, for noise.
    private mutating func giveUpBinary(_ emit: (Fix) -> Void) {
        var pending: [UInt8] = []
        swap(&pending, &carry)
        unsafe pending.withUnsafeMutableBufferPointer { buffer in
            let consumed = unsafe scan(UnsafeBufferPointer(rebasing: buffer[..<carried]), from: 0, isFinal: true, emit)
            unsafe keep(buffer, from: consumed, to: carried)
        }
        swap(&pending, &carry)
        isWithBinary = false
    }

    private mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>, _ emit: (Fix) -> Void) {
        var from = 0
        if carried > 0 {
            var pending: [UInt8] = []
            swap(&pending, &carry)
            unsafe pending.withUnsafeMutableBufferPointer { buffer in
                unsafe from = complete(buffer, with: bytes, emit)
            }
            swap(&pending, &carry)
        }
        if from < bytes.count {
            let consumed = unsafe scan(bytes, from: from, isFinal: false, emit)
            let left = bytes.count - consumed
            if left > 0 {
                for index in 0..<left { unsafe carry[index] = bytes[consumed + index] }
                carried = left
            }
        }
        account.bytes += bytes.count
    }

    /// Adds bytes to the carried ones until none of them is left; gives the index of the first byte not used.
    private mutating func complete(
        _ buffer: UnsafeMutableBufferPointer<UInt8>, with bytes: UnsafeBufferPointer<UInt8>, _ emit: (Fix) -> Void
    ) -> Int {
        var from = 0
        while carried > 0, from < bytes.count {
            let before = carried
            let added = min(Self.topUp, bytes.count - from, buffer.count - before)
            for index in 0..<added { unsafe buffer[before + index] = bytes[from + index] }
            let count = before + added
            let consumed = unsafe scan(UnsafeBufferPointer(rebasing: buffer[..<count]), from: 0, isFinal: false, emit)
            if consumed >= before {
                carried = 0
                return from + consumed - before
            }
            unsafe keep(buffer, from: consumed, to: count)
            from += added
        }
        return from
    }

    /// Moves what is not consumed to the front of the carry-over.
    private mutating func keep(_ buffer: UnsafeMutableBufferPointer<UInt8>, from: Int, to: Int) {
        if from > 0 {
            for index in from..<to { unsafe buffer[index - from] = buffer[index] }
        }
        carried = to - from
    }

    /// Handles every complete sentence and frame; gives the index at which an incomplete one begins, or the count.
    private mutating func scan(
        _ bytes: UnsafeBufferPointer<UInt8>, from: Int, isFinal: Bool, _ emit: (Fix) -> Void
    ) -> Int {
        var index = from
        isWithBinary = false
        while index < bytes.count {
            let byte = unsafe bytes[index]
            if isInComment {
                if byte < 0x20, byte != UInt8(ascii: "\t") { isInComment = false } else { index += 1 }
                continue
            }
            switch byte {
            case UInt8(ascii: "$"), UInt8(ascii: "!"):
                let frame = unsafe SentenceFrame(
                    in: bytes, startingAt: index, acceptsMissingChecksum: options.acceptsMissingChecksum)
                isAtLineStart = false
                switch frame.outcome {
                case .sentence: unsafe handle(bytes, from: index, to: frame.end, emit)
                case .refused(let reason): account.add(reason, line: account.lines + 1, byte: index)
                case .incomplete: return index
                }
                index = frame.next
            case BinaryFrame.ubxStart, BinaryFrame.rtcmStart:
                let outcome =
                    unsafe byte == BinaryFrame.ubxStart
                    ? BinaryFrame.ubx(in: bytes, startingAt: index)
                    : BinaryFrame.rtcm(in: bytes, startingAt: index, crc)
                isAtLineStart = false
                switch outcome {
                case .frame(let length):
                    for place in index..<index + length where unsafe bytes[place] == UInt8(ascii: "\n") {
                        account.lines += 1
                    }
                    account.binaryBytes += length
                    index += length
                case .notAFrame: index += 1
                case .incomplete:
                    guard isFinal else {
                        isWithBinary = true
                        return index
                    }
                    index += 1
                }
            case UInt8(ascii: "\n"):
                account.lines += 1
                isAtLineStart = true
                index += 1
            case UInt8(ascii: "\r"):
                isAtLineStart = true
                index += 1
            case UInt8(ascii: "#") where isAtLineStart:
                isInComment = true
                index += 1
            default:
                isAtLineStart = false
                index += 1
            }
        }
        return index
    }

    /// Reads the sentence whose start byte is at `start` and whose fields end at `end`.
    @inline(__always)
    private mutating func handle(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int, _ emit: (Fix) -> Void
    ) {
        var address: UInt64 = 0
        var length = 0
        while start + 1 + length < end, unsafe bytes[start + 1 + length] != UInt8(ascii: ",") {
            if length < 8 { unsafe address |= UInt64(bytes[start + 1 + length]) << UInt64(length * 8) }
            length += 1
        }
        account.addresses.add(address)
        guard unsafe bytes[start] == UInt8(ascii: "$") else { return }
        let type = SentenceType(address: address, length: length)
        guard type != .other, let base = bytes.baseAddress else { return }
        var fields = unsafe FieldCursor(from: base + min(start + length + 2, end), to: base + end)
        let before = assembler.fixes
        if !read(type, &fields, emit) {
            account.add(
                fields.fault == .outOfRange ? .outOfRange : .malformedField, line: account.lines + 1, byte: start)
        }
        if assembler.fixes != before { lastFixReceivedAt = lastReceivedAt }
    }

    /// Gives the sentence to the assembler; `false` when a field is at fault.
    @inline(__always)
    private mutating func read(_ type: SentenceType, _ fields: inout FieldCursor, _ emit: (Fix) -> Void) -> Bool {
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
        case .pubx00, .pubx04: return readMakersPosition(&fields, emit)
        case .dtm, .txt, .other: break
        }
        return true
    }

    /// PUBX: the first field tells which of u-blox's own sentences it is.
    private mutating func readMakersPosition(_ fields: inout FieldCursor, _ emit: (Fix) -> Void) -> Bool {
        switch fields.decimal()?.mantissa {
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
}
