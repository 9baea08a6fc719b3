/// Bytes of a receiver to fixes: the scanner and the epoch assembler behind one door.
///
/// Feed it chunks of any size; the same bytes give the same fixes however they are cut.
package struct NMEADecoder: Sendable {
    let options: NMEADecoderOptions
    var account = DecoderStatistics()
    var assembler: EpochAssembler
    let crc = CRC24Q.standard
    /// The beginning of a sentence or frame whose end has not come yet; its size never changes.
    private var carry = [UInt8](repeating: 0, count: BinaryFrame.maximumLength + Self.topUp)
    private var carried = 0
    private var opening = StreamOpening()
    /// Whether the last byte ended a line: only there `#` begins a comment.
    var isAtLineStart = true
    var isInComment = false
    var lastReceivedAt: Duration?
    /// Whether a binary frame waits for its end.
    var isWithBinary = false
    /// Place in the stream of the buffer being scanned, in bytes.
    var origin = 0
    /// One bit a kind of warning that has come since it was last taken.
    private var untoldWarnings: UInt64 = 0

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
    ///
    /// Bytes of a recorded log all come at the same moment: the pauses of its reader say nothing about the receiver.
    package mutating func decode(_ bytes: Span<UInt8>, receivedAt: Duration, _ emit: (Fix) -> Void) {
        guard bytes.count > 0 else { return }
        lineIsIdle(at: receivedAt, emit)
        lastReceivedAt = receivedAt
        unsafe bytes.withUnsafeBufferPointer { unsafe decode($0, emit) }
    }

    /// A kind of warning that has come since it was last taken; `nil` when all are. `statistics` counts each.
    package mutating func takeWarning() -> ReceiverWarning? {
        guard untoldWarnings != 0 else { return nil }
        let bit = untoldWarnings.trailingZeroBitCount
        untoldWarnings &= untoldWarnings - 1
        return ReceiverWarning(rawValue: bit)
    }

    /// Counts a warning, and keeps it to be told.
    mutating func warn(_ warning: ReceiverWarning, line: Int, byte: Int) {
        account.add(warning, line: line, byte: byte)
        untoldWarnings |= 1 << UInt64(warning.rawValue)
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
        assembler.lineIsQuiet(emit)
        noteWarnings(at: account.bytes)
    }

    /// Tells that nothing more will come; completes the epoch under way.
    package mutating func finish(_ emit: (Fix) -> Void) {
        // A byte that no sentence holds ends what the last bytes began: a sentence that the end has cut is none,
        // whatever may be missing from it.
        carry[carried] = 0
        carried += 1
        account.bytes += 1
        giveUpBinary(emit)
        account.bytes -= 1
        carried = 0
        assembler.finish(emit)
        noteWarnings(at: account.bytes)
        (isAtLineStart, isInComment) = (true, false)
    }

    /// Takes what cannot be a binary frame any more, as the line is quiet within it, for noise.
    private mutating func giveUpBinary(_ emit: (Fix) -> Void) {
        origin = account.bytes - carried
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
            origin = account.bytes
            let consumed = unsafe scan(bytes, from: from, until: bytes.count, isFinal: false, emit)
            let left = bytes.count - consumed
            if left > 0 {
                for index in 0..<left { unsafe carry[index] = bytes[consumed + index] }
                carried = left
            }
        }
        let isOpening = unsafe opening.add(bytes, after: account.bytes)
        account.bytes += bytes.count
        if isOpening, opening.isUTF16 { warn(.utf16Text, line: 1, byte: 0) }
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
            origin = account.bytes + from - before
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
