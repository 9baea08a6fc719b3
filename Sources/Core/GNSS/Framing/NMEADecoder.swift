/// Bytes of a receiver to fixes: scanner and epoch assembler behind one interface.
///
/// Feed it chunks of any size; the same bytes give the same fixes however they are cut.
package struct NMEADecoder: Sendable {
    let options: NMEADecoderOptions
    var account = DecoderStatistics()
    var assembler: EpochAssembler
    private var recent = RecentPosition()
    let crc = CRC24Q.standard
    /// The beginning of a sentence or frame whose end has not come yet; its size never changes.
    private var carry = [UInt8](repeating: 0, count: BinaryFrame.maximumLength + Self.topUp)
    private var carried = 0
    private var opening = StreamOpening()
    /// Whether the last byte ended a line: only there `#` begins a comment.
    var isAtLineStart = true
    var isInComment = false
    private var lastReceivedAt: Duration?
    /// Whether a binary frame waits for its end.
    private var isWithBinary = false
    /// What is seen of the satellites, where that is wanted.
    private var sky: SkyAssembler?
    /// The kinds of warning that have come since they were last taken.
    private var unreportedWarnings = WarningSet()

    /// Bytes that are added to the carried ones at a time, until what they began is complete.
    private static let topUp = 512

    package init(options: NMEADecoderOptions = NMEADecoderOptions()) {
        self.options = options
        assembler = EpochAssembler(dates: options.dates)
        sky = options.readsSky ? SkyAssembler() : nil
    }

    /// What has been met so far.
    package var statistics: DecoderStatistics {
        var account = account
        account.epochs = assembler.counts
        account.epochs.undated += assembler.undatedCount
        return account
    }

    /// Takes the next bytes; `receivedAt` is monotonic time since any fixed moment and only serves the idle time-out.
    ///
    /// Bytes of a recorded log all come at the same moment: the pauses of its reader say nothing about the receiver.
    package mutating func decode(_ bytes: Span<UInt8>, receivedAt: Duration, _ emit: (Fix) -> Void) {
        guard bytes.count > 0 else { return }
        lineIsIdle(at: receivedAt, emit)
        lastReceivedAt = receivedAt
        unsafe bytes.withUnsafeBufferPointer { unsafe decode($0, emit) }
    }

    /// Whether positions of a live receiver have come for a while, and nothing dates them: neither the receiver nor a
    /// host's clock that is kept right.
    package var lacksDate: Bool { assembler.calendar.lacksDate }

    /// A kind of warning that has come since it was last taken; `nil` when all are. `statistics` counts each.
    package mutating func takeWarning() -> ReceiverWarning? { unreportedWarnings.takeFirst() }

    /// The satellites in view at `now`, on the scale of `receivedAt`, if anything was said of them since the last call;
    /// only with `NMEADecoderOptions.readsSky`.
    package mutating func takeSky(at now: Duration) -> Sky? { sky?.takeSky(at: now) }

    /// Counts a warning, and keeps it to be reported.
    mutating func warn(_ warning: ReceiverWarning) {
        account.add(warning)
        unreportedWarnings.insert(warning)
    }

    /// When, on the scale of `receivedAt`, a quiet line completes the current epoch; `nil` when none is.
    package var idleDeadline: Duration? {
        guard let lastReceivedAt, assembler.isWaiting || isWithBinary else { return nil }
        return lastReceivedAt + idleTime
    }

    /// A third of the interval between epochs, at most a quarter of a second.
    private var idleTime: Duration { .milliseconds(min(250, Int(assembler.rhythm.intervalMilliseconds) * 3 / 10)) }

    /// Tells that the line has been quiet until `now`; completes the epoch once its deadline has passed.
    package mutating func lineIsIdle(at now: Duration, _ emit: (Fix) -> Void) {
        guard let lastReceivedAt, now >= lastReceivedAt + idleTime else { return }
        if isWithBinary { abandonBinaryFrame(emit) }
        assembler.lineIsQuiet(emit)
        noteWarnings()
    }

    /// Tells that nothing more will come; completes the current epoch.
    package mutating func finish(_ emit: (Fix) -> Void) {
        // A byte that no sentence holds ends what the last bytes began: a sentence cut off by the end does not count,
        // whatever may be missing from it.
        carry[carried] = 0
        carried += 1
        abandonBinaryFrame(emit)
        carried = 0
        assembler.finish(emit)
        noteWarnings()
        isAtLineStart = true
        isInComment = false
    }

    /// Takes what cannot be a binary frame any more, as the line is quiet within it, for noise.
    private mutating func abandonBinaryFrame(_ emit: (Fix) -> Void) {
        var pending: [UInt8] = []
        swap(&pending, &carry)
        unsafe pending.withUnsafeMutableBufferPointer { buffer in
            let consumed = unsafe scan(
                UnsafeBufferPointer(rebasing: buffer[..<carried]), from: 0, until: carried, isFinal: true, emit)
            unsafe keep(buffer, from: consumed, to: carried)
        }
        swap(&pending, &carry)
        isWithBinary = false
    }

    private mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>, _ emit: (Fix) -> Void) {
        // Before a line feed can have been counted: such text shows on its first line.
        if unsafe opening.add(bytes, after: account.bytes), opening.isUTF16 { warn(.utf16Text) }
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
            let consumed = unsafe scan(bytes, from: from, until: bytes.count, isFinal: false, emit)
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
            let consumed = unsafe scan(
                UnsafeBufferPointer(rebasing: buffer[..<count]), from: 0, until: count, isFinal: false, emit)
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
}

/// Finding sentences and frames among whatever else a line carries.
extension NMEADecoder {
    /// Handles every complete sentence and frame that begins before `limit`, though it may end beyond; gives the index
    /// at which an incomplete one begins, or the first one that was not looked at.
    mutating func scan(
        _ bytes: UnsafeBufferPointer<UInt8>, from: Int, until limit: Int, isFinal: Bool, _ emit: (Fix) -> Void
    ) -> Int {
        var index = from
        isWithBinary = false
        while index < limit {
            let byte = unsafe bytes[index]
            if isInComment {
                if byte < 0x20, byte != UInt8(ascii: "\t") { isInComment = false } else { index += 1 }
                continue
            }
            switch byte {
            case UInt8(ascii: "$"), UInt8(ascii: "!"):
                guard let next = unsafe takeSentence(bytes, startingAt: index, emit) else { return index }
                index = next
                isAtLineStart = false
                // Nearly always its line ends here.
                if next + 1 < limit, unsafe bytes[next] == UInt8(ascii: "\r"),
                    unsafe bytes[next + 1] == UInt8(ascii: "\n")
                {
                    isAtLineStart = true
                    account.lineFeeds += 1
                    index = next + 2
                }
            case BinaryFrame.ubxStart, BinaryFrame.rtcmStart:
                isAtLineStart = false
                guard let next = unsafe skipBinaryFrame(in: bytes, startingAt: index, isFinal: isFinal) else {
                    return index
                }
                index = next
            case UInt8(ascii: "\n"):
                account.lineFeeds += 1
                isAtLineStart = true
                index += 1
            case UInt8(ascii: "\r"):
                account.returns += 1
                isAtLineStart = true
                index += 1
            case TagBlock.mark:
                isAtLineStart = false
                guard let next = unsafe takeTagBlock(in: bytes, startingAt: index, isFinal: isFinal) else {
                    return index
                }
                index = next
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

    /// Steps over the binary frame that may begin at `start`. Returns the index of the first byte that doesn't belong
    /// to it; `nil` if more bytes are needed.
    @inline(never)
    private mutating func skipBinaryFrame(
        in bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int, isFinal: Bool
    ) -> Int? {
        let isUBX = unsafe bytes[start] == BinaryFrame.ubxStart
        let outcome =
            isUBX
            ? unsafe BinaryFrame.ubx(in: bytes, startingAt: start)
            : unsafe BinaryFrame.rtcm(in: bytes, startingAt: start, crc)
        switch outcome {
        case .frame(let length):
            unsafe account.lineFeeds += Self.lineFeeds(in: bytes, from: start, to: start + length)
            account.binaryBytes += length
            return start + length
        case .incomplete where !isFinal:
            isWithBinary = true
            return nil
        case .notAFrame, .incomplete: return start + 1
        }
    }

    /// Reads the tag block that may begin at `start`. Returns the index of the first byte that doesn't belong to it;
    /// `nil` if more bytes are needed.
    @inline(never)
    private mutating func takeTagBlock(
        in bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int, isFinal: Bool
    ) -> Int? {
        switch unsafe TagBlock.outcome(in: bytes, startingAt: start) {
        case .block(let length, let transmittedAt):
            if let transmittedAt { assembler.noteTransmission(at: transmittedAt) }
            return start + length
        case .incomplete where !isFinal: return nil
        case .notABlock, .incomplete: return start + 1
        }
    }

    /// Counts line feeds, eight bytes at a time: lines are numbered as an editor numbers them, binary bytes or not.
    private static func lineFeeds(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Int {
        let raw = UnsafeRawBufferPointer(bytes)
        var count = 0
        var index = start
        while index + 8 <= end {
            let word = unsafe raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            count += WordScan.count(of: UInt8(ascii: "\n"), in: word)
            index += 8
        }
        while index < end {
            if unsafe bytes[index] == UInt8(ascii: "\n") { count += 1 }
            index += 1
        }
        return count
    }
}

/// What becomes of one sentence.
extension NMEADecoder {
    /// Handles what begins with the start byte at `start`; gives the index of the first byte that does not belong to
    /// it, `nil` when more bytes are needed.
    @inline(never)
    private mutating func takeSentence(
        _ bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int, _ emit: (Fix) -> Void
    ) -> Int? {
        let frame = unsafe SentenceFrame(
            in: bytes, startingAt: start, acceptsMissingChecksum: options.acceptsMissingChecksum)
        switch frame.outcome {
        case .sentence: unsafe handle(bytes, from: start, to: frame.end, emit)
        case .refused(let reason): account.add(reason)
        case .startAlone: break
        case .incomplete: return nil
        }
        return frame.next
    }

    /// Reads the sentence whose start byte is at `start` and whose fields end at `end`.
    @inline(__always)
    private mutating func handle(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int, _ emit: (Fix) -> Void
    ) {
        guard let base = bytes.baseAddress else { return }
        let (address, length) = unsafe Self.address(in: bytes, from: start &+ 1, to: end)
        let type = account.addresses.add(address, length: length)
        guard unsafe bytes[start] == UInt8(ascii: "$") else { return }
        let first = min(start &+ length &+ 2, end)
        if type == .txt || type == .other && ReceiverBanners.states(address) {
            unsafe noteBanner(bytes, from: first, to: end, isText: type == .txt)
        }
        let text = unsafe SentenceText(fields: base + first, end: base + end, limit: base + bytes.count)
        if sky != nil, length == 5 { noteSky(address, text) }
        read(type, text, address, emit)
        if !assembler.warnings.isEmpty { noteWarnings() }
    }

    @inline(never)
    private mutating func noteSky(_ address: UInt64, _ text: SentenceText) {
        sky?.take(address, FieldCursor(text), epoch: assembler.serial, at: lastReceivedAt ?? .zero)
    }

    /// Keeps what a receiver says of itself; `isText` for TXT, whose words stand behind three numbers.
    @inline(never)
    private mutating func noteBanner(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int, isText: Bool
    ) {
        var place = start
        var numbers = isText ? 3 : 0
        while numbers > 0, place < end {
            if unsafe bytes[place] == UInt8(ascii: ",") { numbers -= 1 }
            place += 1
        }
        unsafe account.receiverBanners.note(bytes, from: place, to: end)
    }

    /// Counts what the assembler has found, as seen on the present line.
    @inline(never)
    private mutating func noteWarnings() {
        while let warning = assembler.warnings.takeFirst() { warn(warning) }
    }

    /// Counts a sentence that was rejected for a field, or a field that was left out of one.
    @inline(never)
    private mutating func noteFault(in text: SentenceText, of type: SentenceType) {
        guard let fault = FieldFault(in: text, of: type) else { return }
        account.add(fault)
        if fault.isRejection { account.add(fault.isOutOfRange ? .outOfRange : .malformedField) }
    }

    /// Reads a sentence of any type.
    @inline(__always)
    private mutating func read(
        _ type: SentenceType, _ text: SentenceText, _ address: UInt64, _ emit: (Fix) -> Void
    ) {
        switch type {
        case .rmc: readRMC(text, address, emit)
        case .gga: readGGA(text, address, emit)
        case .gll: readGLL(text, address, emit)
        case .vtg: readVTG(text, emit)
        case .gsa: readGSA(text, emit)
        case .other: break
        default: readRare(type, text, address, emit)
        }
    }

    // A function for each type that makes up nearly all of what receivers send. One function for all of them is a third
    // slower: it is too large for the optimizer to keep what it reads in registers.

    @inline(never)
    private mutating func readRMC(_ text: SentenceText, _ address: UInt64, _ emit: (Fix) -> Void) {
        var fields = FieldCursor(text)
        if let sentence = PositionSentence(rmc: &fields, &recent) {
            assembler.take(sentence, .rmc, TalkerGroup(address: address), emit)
        }
        if fields.hasFault { noteFault(in: text, of: .rmc) }
    }

    @inline(never)
    private mutating func readGGA(_ text: SentenceText, _ address: UInt64, _ emit: (Fix) -> Void) {
        var fields = FieldCursor(text)
        if let sentence = PositionSentence(gga: &fields, &recent) {
            assembler.take(sentence, .gga, TalkerGroup(address: address), emit)
        }
        if fields.hasFault { noteFault(in: text, of: .gga) }
    }

    @inline(never)
    private mutating func readGLL(_ text: SentenceText, _ address: UInt64, _ emit: (Fix) -> Void) {
        var fields = FieldCursor(text)
        if let sentence = PositionSentence(gll: &fields, &recent) {
            assembler.take(sentence, .gll, TalkerGroup(address: address), emit)
        }
        if fields.hasFault { noteFault(in: text, of: .gll) }
    }

    @inline(never)
    private mutating func readVTG(_ text: SentenceText, _ emit: (Fix) -> Void) {
        var fields = FieldCursor(text)
        assembler.take(MotionSentence(vtg: &fields), emit)
        if fields.hasFault { noteFault(in: text, of: .vtg) }
    }

    @inline(never)
    private mutating func readGSA(_ text: SentenceText, _ emit: (Fix) -> Void) {
        var fields = FieldCursor(text)
        assembler.take(SatellitesSentence(gsa: &fields), emit)
        if fields.hasFault { noteFault(in: text, of: .gsa) }
    }

    @inline(never)
    private mutating func readRare(
        _ type: SentenceType, _ text: SentenceText, _ address: UInt64, _ emit: (Fix) -> Void
    ) {
        var fields = FieldCursor(text)
        let type = type == .pubx00 ? SentenceType(ubloxMessage: fields.decimal()?.whole) : type
        switch type {
        case .gns, .pubx00:
            if let sentence = PositionSentence(type, &fields, &recent) {
                assembler.take(sentence, type, TalkerGroup(address: address), emit)
            }
        case .gst, .gbs, .pgrme, .pqtmepe, .psrfepe:
            if let sentence = AccuracySentence(type, &fields) { assembler.take(sentence, type, emit) }
        case .zda, .pubx04:
            if let sentence = DateSentence(type, &fields) { assembler.take(sentence, emit) }
        case .hdt, .ths:
            if let sentence = HeadingSentence(type, &fields) { assembler.take(sentence) }
        case .dtm:
            if let warning = ReceiverNotice.warning(dtm: &fields) { warn(warning) }
        case .txt:
            if let warning = ReceiverNotice.warning(txt: &fields) { warn(warning) }
        case .rmc, .gga, .gll, .vtg, .gsa, .other: break
        }
        if fields.hasFault { noteFault(in: text, of: type) }
    }

    /// The address at `start`: its first eight bytes, first byte lowest, and its length.
    @inline(__always)
    private static func address(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int
    ) -> (address: UInt64, length: Int) {
        if start &+ 8 <= end, let base = bytes.baseAddress {
            let word = unsafe WordScan.word(at: base + start)
            let comma = WordScan.marks(of: UInt8(ascii: ","), in: word)
            if comma != 0 {
                // One bit: the lowest of the comma.
                let lowest = (comma & (0 &- comma)) >> 7
                return (word & (lowest &- 1), comma.trailingZeroBitCount / 8)
            }
        }
        return unsafe longAddress(in: bytes, from: start, to: end)
    }

    @inline(never)
    private static func longAddress(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int
    ) -> (address: UInt64, length: Int) {
        var address: UInt64 = 0
        var length = 0
        while start + length < end, unsafe bytes[start + length] != UInt8(ascii: ",") {
            if length < 8 { unsafe address |= UInt64(bytes[start + length]) << UInt64(length * 8) }
            length += 1
        }
        return (address, length)
    }
}
