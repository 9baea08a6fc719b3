/// A decoder that turns a receiver's bytes into fixes. A scanner finds the sentences, and an epoch assembler combines
/// them.
///
/// The same bytes always result in the same fixes, however the bytes are divided into chunks.
package struct NMEADecoder: Sendable {
    let options: NMEADecoderOptions
    var counts = DecoderStatistics()
    var assembler: EpochAssembler
    private var cache = FieldCache()
    let crc = CRC24Q.standard
    /// The buffer for the start of a sentence or frame whose end hasn't arrived yet. The buffer's size never changes.
    private var carryBuffer = [UInt8](repeating: 0, count: BinaryFrame.maximumLength + Self.refillCount)
    private var carriedCount = 0
    private var opening = StreamOpening()
    /// Whether the next byte is the first of a line. Only a `#` at the start of a line begins a comment.
    var isAtLineStart = true
    var isInComment = false
    private var lastReceivedAt: Duration?
    /// Whether the carried bytes are the start of a binary frame.
    private var isInBinaryFrame = false
    /// The assembler of the satellites in view; `nil` unless `NMEADecoderOptions.readsSky` is set.
    private var sky: SkyAssembler?
    /// The kinds of warning that have occurred and that `takeWarning` hasn't returned yet.
    private var unreportedWarnings = WarningSet()

    /// The number of new bytes that are added to the carried bytes at a time, until the sentence or frame is complete.
    private static let refillCount = 512

    package init(options: NMEADecoderOptions = NMEADecoderOptions()) {
        self.options = options
        assembler = EpochAssembler(dates: options.dates)
        sky = options.readsSky ? SkyAssembler() : nil
    }

    /// The counts of everything that has been decoded so far.
    package var statistics: DecoderStatistics {
        var statistics = counts
        statistics.epochs = assembler.counts
        statistics.epochs.undated += assembler.undatedCount
        return statistics
    }

    /// Decodes the next bytes. `receivedAt` is a monotonic time, measured from any fixed moment. Only the idle timeout
    /// uses it.
    ///
    /// For a recorded log, pass the same `receivedAt` with all bytes, because a pause in reading a log says nothing
    /// about the receiver.
    package mutating func decode(_ bytes: Span<UInt8>, receivedAt: Duration, _ emit: (Fix) -> Void) {
        guard bytes.count > 0 else { return }
        handleIdleLine(at: receivedAt, emit)
        lastReceivedAt = receivedAt
        unsafe bytes.withUnsafeBufferPointer { unsafe decode($0, emit) }
    }

    /// Whether a live receiver has sent positions for a while without a date, and the host's clock isn't synchronised.
    package var lacksDate: Bool { assembler.calendar.lacksDate }

    /// Removes and returns a kind of warning that has occurred; `nil` if there is none. `statistics` counts every
    /// occurrence.
    package mutating func takeWarning() -> ReceiverWarning? { unreportedWarnings.takeFirst() }

    /// Returns the satellites in view at `now`, which is measured from the same moment as `receivedAt`. Returns `nil`
    /// if nothing has been reported about satellites since the last call, or if `NMEADecoderOptions.readsSky` isn't
    /// set.
    package mutating func takeSky(at now: Duration) -> Sky? { sky?.takeSky(at: now) }

    /// Counts a warning and keeps its kind for `takeWarning`.
    mutating func warn(_ warning: ReceiverWarning) {
        counts.add(warning)
        unreportedWarnings.insert(warning)
    }

    /// The time at which the current epoch will be complete if no more bytes arrive; `nil` if nothing is waiting. It is
    /// measured from the same moment as `receivedAt`.
    package var idleDeadline: Duration? {
        guard let lastReceivedAt, assembler.isWaiting || isInBinaryFrame else { return nil }
        return lastReceivedAt + idleTime
    }

    /// The time without bytes after which the line is considered quiet. It is three tenths of the interval between
    /// epochs, but at most a quarter of a second.
    private var idleTime: Duration { .milliseconds(min(250, Int(assembler.rhythm.intervalMilliseconds) * 3 / 10)) }

    /// Handles a line on which no bytes have arrived until `now`. Completes the current epoch if the idle time has
    /// passed.
    package mutating func handleIdleLine(at now: Duration, _ emit: (Fix) -> Void) {
        guard let lastReceivedAt, now >= lastReceivedAt + idleTime else { return }
        if isInBinaryFrame { abandonBinaryFrame(emit) }
        assembler.completeQuietEpoch(emit)
        recordWarnings()
    }

    /// Handles the end of input. Completes the current epoch.
    package mutating func finish(_ emit: (Fix) -> Void) {
        // A zero byte is never part of a sentence. It ends an incomplete sentence, which isn't used.
        carryBuffer[carriedCount] = 0
        carriedCount += 1
        abandonBinaryFrame(emit)
        carriedCount = 0
        assembler.finish(emit)
        recordWarnings()
        isAtLineStart = true
        isInComment = false
    }

    /// Scans the carried bytes again without waiting for a binary frame, because the line went quiet or the input ended
    /// before the frame was complete.
    private mutating func abandonBinaryFrame(_ emit: (Fix) -> Void) {
        var pending: [UInt8] = []
        swap(&pending, &carryBuffer)
        unsafe pending.withUnsafeMutableBufferPointer { buffer in
            let consumed = unsafe scan(
                UnsafeBufferPointer(rebasing: buffer[..<carriedCount]), from: 0, until: carriedCount, isFinal: true,
                emit)
            unsafe keepUnconsumedBytes(of: buffer, from: consumed, to: carriedCount)
        }
        swap(&pending, &carryBuffer)
        isInBinaryFrame = false
    }

    private mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>, _ emit: (Fix) -> Void) {
        // This must come before any line feed is counted, so that the warning is counted on line 1.
        if unsafe opening.add(bytes, atOffset: counts.bytes), opening.isUTF16 { warn(.utf16Text) }
        var from = 0
        if carriedCount > 0 {
            var pending: [UInt8] = []
            swap(&pending, &carryBuffer)
            unsafe pending.withUnsafeMutableBufferPointer { buffer in
                unsafe from = completeCarriedBytes(in: buffer, with: bytes, emit)
            }
            swap(&pending, &carryBuffer)
        }
        if from < bytes.count {
            let consumed = unsafe scan(bytes, from: from, until: bytes.count, isFinal: false, emit)
            let left = bytes.count - consumed
            if left > 0 {
                for index in 0..<left { unsafe carryBuffer[index] = bytes[consumed + index] }
                carriedCount = left
            }
        }
        counts.bytes += bytes.count
    }

    /// Adds new bytes to the carried bytes until all carried bytes are consumed. Returns the index of the first new
    /// byte that wasn't used.
    private mutating func completeCarriedBytes(
        in buffer: UnsafeMutableBufferPointer<UInt8>, with bytes: UnsafeBufferPointer<UInt8>, _ emit: (Fix) -> Void
    ) -> Int {
        var from = 0
        while carriedCount > 0, from < bytes.count {
            let before = carriedCount
            let added = min(Self.refillCount, bytes.count - from, buffer.count - before)
            for index in 0..<added { unsafe buffer[before + index] = bytes[from + index] }
            let count = before + added
            let consumed = unsafe scan(
                UnsafeBufferPointer(rebasing: buffer[..<count]), from: 0, until: count, isFinal: false, emit)
            if consumed >= before {
                carriedCount = 0
                return from + consumed - before
            }
            unsafe keepUnconsumedBytes(of: buffer, from: consumed, to: count)
            from += added
        }
        return from
    }

    /// Moves the bytes that weren't consumed to the front of the buffer.
    private mutating func keepUnconsumedBytes(
        of buffer: UnsafeMutableBufferPointer<UInt8>, from: Int, to: Int
    ) {
        if from > 0 {
            for index in from..<to { unsafe buffer[index - from] = buffer[index] }
        }
        carriedCount = to - from
    }
}

/// The search for sentences and frames in the stream of bytes.
extension NMEADecoder {
    /// Handles every complete sentence and frame that begins before `limit`, even if it ends later. If one is
    /// incomplete, returns the index at which it begins. Otherwise returns the index of the first byte that wasn't
    /// scanned.
    mutating func scan(
        _ bytes: UnsafeBufferPointer<UInt8>, from: Int, until limit: Int, isFinal: Bool, _ emit: (Fix) -> Void
    ) -> Int {
        var index = from
        isInBinaryFrame = false
        while index < limit {
            let byte = unsafe bytes[index]
            if isInComment {
                if byte < 0x20, byte != UInt8(ascii: "\t") { isInComment = false } else { index += 1 }
                continue
            }
            switch byte {
            case UInt8(ascii: "$"), UInt8(ascii: "!"):
                guard let next = unsafe scanSentence(in: bytes, startingAt: index, emit) else { return index }
                index = next
                isAtLineStart = false
                // This is the fast path, because a CR LF nearly always follows a sentence.
                if next + 1 < limit, unsafe bytes[next] == UInt8(ascii: "\r"),
                    unsafe bytes[next + 1] == UInt8(ascii: "\n")
                {
                    isAtLineStart = true
                    counts.lineFeeds += 1
                    index = next + 2
                }
            case BinaryFrame.ubxStart, BinaryFrame.rtcmStart:
                isAtLineStart = false
                guard let next = unsafe skipBinaryFrame(in: bytes, startingAt: index, isFinal: isFinal) else {
                    return index
                }
                index = next
            case UInt8(ascii: "\n"):
                counts.lineFeeds += 1
                isAtLineStart = true
                index += 1
            case UInt8(ascii: "\r"):
                counts.carriageReturns += 1
                isAtLineStart = true
                index += 1
            case TagBlock.mark:
                isAtLineStart = false
                guard let next = unsafe readTagBlock(in: bytes, startingAt: index, isFinal: isFinal) else {
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

    /// Skips the binary frame at `start`, or a single byte if no frame begins there. Returns the index of the next
    /// byte; `nil` if more bytes are needed.
    @inline(never)
    private mutating func skipBinaryFrame(
        in bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int, isFinal: Bool
    ) -> Int? {
        let isUBX = unsafe bytes[start] == BinaryFrame.ubxStart
        let outcome =
            isUBX
            ? unsafe BinaryFrame.ubxOutcome(in: bytes, startingAt: start)
            : unsafe BinaryFrame.rtcmOutcome(in: bytes, startingAt: start, crc: crc)
        switch outcome {
        case .frame(let length):
            unsafe counts.lineFeeds += Self.lineFeeds(in: bytes, from: start, to: start + length)
            counts.binaryBytes += length
            return start + length
        case .incomplete where !isFinal:
            isInBinaryFrame = true
            return nil
        case .notAFrame, .incomplete: return start + 1
        }
    }

    /// Reads the tag block at `start`, or skips a single byte if no block begins there. Returns the index of the next
    /// byte; `nil` if more bytes are needed.
    @inline(never)
    private mutating func readTagBlock(
        in bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int, isFinal: Bool
    ) -> Int? {
        switch unsafe TagBlock.outcome(in: bytes, startingAt: start) {
        case .block(let length, let transmittedAt):
            if let transmittedAt { assembler.recordTransmission(at: transmittedAt) }
            return start + length
        case .incomplete where !isFinal: return nil
        case .notABlock, .incomplete: return start + 1
        }
    }

    /// Returns the number of line feeds, which are counted eight bytes at a time. Line feeds in binary frames are
    /// included, because text editors count them too.
    private static func lineFeeds(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Int {
        let raw = UnsafeRawBufferPointer(bytes)
        var count = 0
        var index = start
        while index + 8 <= end {
            let word = unsafe raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            count += SWAR.count(of: UInt8(ascii: "\n"), in: word)
            index += 8
        }
        while index < end {
            if unsafe bytes[index] == UInt8(ascii: "\n") { count += 1 }
            index += 1
        }
        return count
    }
}

/// The reading of one sentence.
extension NMEADecoder {
    /// Handles the sentence that may begin with the start byte at `start`. Returns the index at which scanning
    /// continues; `nil` if more bytes are needed.
    @inline(never)
    private mutating func scanSentence(
        in bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int, _ emit: (Fix) -> Void
    ) -> Int? {
        let frame = unsafe SentenceFrame(
            in: bytes, startingAt: start, acceptsMissingChecksum: options.acceptsMissingChecksum)
        switch frame.outcome {
        case .sentence: unsafe readSentence(in: bytes, from: start, to: frame.end, emit)
        case .rejected(let reason): counts.add(reason)
        case .loneStartByte: break
        case .incomplete: return nil
        }
        return frame.resumeIndex
    }

    /// Reads the sentence whose start byte is at `start` and whose fields end at `end`.
    @inline(__always)
    private mutating func readSentence(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int, _ emit: (Fix) -> Void
    ) {
        guard let base = bytes.baseAddress else { return }
        let (address, length) = unsafe Self.address(in: bytes, from: start &+ 1, to: end)
        let type = counts.addresses.add(address, length: length)
        if type.containsPosition { counts.positionSentences += 1 }
        guard unsafe bytes[start] == UInt8(ascii: "$") else { return }
        let first = min(start &+ length &+ 2, end)
        if type == .txt || type == .other && ReceiverBanners.isBannerAddress(address) {
            unsafe recordBanner(in: bytes, from: first, to: end, isText: type == .txt)
        }
        let text = unsafe SentenceText(fields: base + first, end: base + end, readableEnd: base + bytes.count)
        if sky != nil, length == 5 { recordSky(from: text, address: address) }
        readFields(of: type, in: text, address: address, emit)
        if !assembler.warnings.isEmpty { recordWarnings() }
    }

    @inline(never)
    private mutating func recordSky(from text: SentenceText, address: UInt64) {
        sky?.add(FieldCursor(text), address: address, epoch: assembler.serial, at: lastReceivedAt ?? .zero)
    }

    /// Keeps a message that may name the receiver. In a TXT sentence (`isText`), three numeric fields precede the
    /// message.
    @inline(never)
    private mutating func recordBanner(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int, isText: Bool
    ) {
        var place = start
        var numbers = isText ? 3 : 0
        while numbers > 0, place < end {
            if unsafe bytes[place] == UInt8(ascii: ",") { numbers -= 1 }
            place += 1
        }
        unsafe counts.receiverBanners.add(bytes, from: place, to: end)
    }

    /// Counts the assembler's warnings on the current line.
    @inline(never)
    private mutating func recordWarnings() {
        while let warning = assembler.warnings.takeFirst() { warn(warning) }
    }

    /// Counts a faulty field, and the rejection if the sentence was rejected because of that field.
    @inline(never)
    private mutating func recordFault(in text: SentenceText, of type: SentenceType) {
        guard let fault = FieldFault(in: text, of: type) else { return }
        counts.add(fault)
        if fault.isRejection { counts.add(fault.isOutOfRange ? .outOfRange : .malformedField) }
    }

    @inline(__always)
    private mutating func readFields(
        of type: SentenceType, in text: SentenceText, address: UInt64, _ emit: (Fix) -> Void
    ) {
        switch type {
        case .rmc: readRMC(text, address: address, emit)
        case .gga: readGGA(text, address: address, emit)
        case .gll: readGLL(text, address: address, emit)
        case .vtg: readVTG(text, emit)
        case .gsa: readGSA(text, emit)
        case .other: break
        default: readRareSentence(of: type, text, address: address, emit)
        }
    }

    // Each frequent type has a separate function. One function for all types is a third slower, because it is too large
    // for the optimiser to keep the fields in registers.

    @inline(never)
    private mutating func readRMC(_ text: SentenceText, address: UInt64, _ emit: (Fix) -> Void) {
        var fields = FieldCursor(text)
        if let sentence = PositionSentence(rmc: &fields, &cache) {
            assembler.add(sentence, of: .rmc, from: TalkerGroup(address: address), emit)
        }
        if fields.hasFault { recordFault(in: text, of: .rmc) }
    }

    @inline(never)
    private mutating func readGGA(_ text: SentenceText, address: UInt64, _ emit: (Fix) -> Void) {
        var fields = FieldCursor(text)
        if let sentence = PositionSentence(gga: &fields, &cache) {
            assembler.add(sentence, of: .gga, from: TalkerGroup(address: address), emit)
        }
        if fields.hasFault { recordFault(in: text, of: .gga) }
    }

    @inline(never)
    private mutating func readGLL(_ text: SentenceText, address: UInt64, _ emit: (Fix) -> Void) {
        var fields = FieldCursor(text)
        if let sentence = PositionSentence(gll: &fields, &cache) {
            assembler.add(sentence, of: .gll, from: TalkerGroup(address: address), emit)
        }
        if fields.hasFault { recordFault(in: text, of: .gll) }
    }

    @inline(never)
    private mutating func readVTG(_ text: SentenceText, _ emit: (Fix) -> Void) {
        var fields = FieldCursor(text)
        assembler.add(MotionSentence(vtg: &fields), emit)
        if fields.hasFault { recordFault(in: text, of: .vtg) }
    }

    @inline(never)
    private mutating func readGSA(_ text: SentenceText, _ emit: (Fix) -> Void) {
        var fields = FieldCursor(text)
        assembler.add(SatellitesSentence(gsa: &fields), emit)
        if fields.hasFault { recordFault(in: text, of: .gsa) }
    }

    @inline(never)
    private mutating func readRareSentence(
        of type: SentenceType, _ text: SentenceText, address: UInt64, _ emit: (Fix) -> Void
    ) {
        var fields = FieldCursor(text)
        let type = type == .pubx00 ? SentenceType(ubloxMessage: fields.readDecimal()?.whole) : type
        switch type {
        case .gns, .pubx00:
            if let sentence = PositionSentence(type, &fields, &cache) {
                assembler.add(sentence, of: type, from: TalkerGroup(address: address), emit)
            }
        case .gst, .gbs, .pgrme, .pqtmepe, .psrfepe:
            if let sentence = AccuracySentence(type, &fields) { assembler.add(sentence, of: type, emit) }
        case .zda, .pubx04:
            if let sentence = DateSentence(type, &fields) { assembler.add(sentence, emit) }
        case .hdt, .ths:
            if let sentence = HeadingSentence(type, &fields) { assembler.add(sentence) }
        case .dtm:
            if let warning = ReceiverNotice.warning(dtm: &fields) { warn(warning) }
        case .txt:
            if let warning = ReceiverNotice.warning(txt: &fields) { warn(warning) }
        case .rmc, .gga, .gll, .vtg, .gsa, .other: break
        }
        if fields.hasFault { recordFault(in: text, of: type) }
    }

    /// Returns the length of the address at `start`, and its first eight bytes with the first byte in the lowest bits.
    @inline(__always)
    private static func address(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int
    ) -> (address: UInt64, length: Int) {
        if start &+ 8 <= end, let base = bytes.baseAddress {
            let word = unsafe SWAR.word(at: base + start)
            let comma = SWAR.marks(of: UInt8(ascii: ","), in: word)
            if comma != 0 {
                // This isolates the lowest bit of the comma's byte.
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
