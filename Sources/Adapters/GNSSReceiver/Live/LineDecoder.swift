import GNSS
import ReportedText
import Reporting

/// A decoder that makes fixes from the bytes of one open line. All times are from the same monotonic clock.
///
/// A decoder is called once per read, not once per sentence, so that calls through the protocol cost little.
protocol LineDecoder: Sendable {
    /// Decodes the next bytes and calls `emit` with each fix. Returns the number of sentences or reports that prove
    /// that a receiver is connected.
    mutating func decode(_ bytes: Span<UInt8>, at now: Duration, _ emit: (Fix) -> Void) -> Int
    /// Completes the current epoch if its deadline has passed. Called if nothing has arrived by `now`.
    mutating func handleIdleLine(at now: Duration, _ emit: (Fix) -> Void)
    /// Completes the current epoch. Called when the line has ended or been lost.
    mutating func finish(_ emit: (Fix) -> Void)
    /// The time at which the current epoch is complete if nothing more arrives; `nil` if no epoch is pending.
    var idleDeadline: Duration? { get }
    /// Returns a warning that hasn't been returned since it last occurred; `nil` if there is none.
    mutating func takeWarning() -> ReceiverWarning?
    /// Returns the satellites in view; `nil` if nothing has been reported about them since the last call.
    mutating func takeSky(at now: Duration) -> Sky?
    /// The fault that prevents fixes; `nil` if the bytes received so far don't reveal one.
    var obstacle: ReceiverFault? { get }
    /// The findings that explain why no sentences, or no positions, arrive on the line.
    var findings: LineFindings { get }
}

/// Findings from a line's bytes that explain why no sentences, or no positions, arrive.
struct LineFindings {
    /// Whether whole frames of a binary protocol have arrived. If so, the baud rate is right, but the protocol is
    /// wrong.
    var hasBinaryFrames = false
    /// Whether all sentences are rejected, most of them because they have no checksum.
    var lacksChecksums = false
    /// Whether the bytes are readable text but contain no sentence. If so, the baud rate is right.
    var isReadableText = false
    /// The beginning of the readable text; `nil` if it may contain a position.
    var textBeginning: ReportedText?
    /// The fault to report if another program answers in place of a receiver; `nil` if no such program is recognised.
    var otherSpeaker: ReceiverFault?
    /// The reason why the bytes aren't sentences; `nil` if it isn't known.
    var noiseFault: ReceiverFault?
    /// The reason why no sentence provides a position; `nil` if one may provide a position, or if there were no
    /// sentences.
    var positionFault: ReceiverFault?
    /// The decoder's counts of sentences; `nil` for gpsd's reports.
    var statistics: DecoderStatistics?
}

/// A decoder of NMEA 0183 from a live receiver.
struct SentenceDecoder: LineDecoder {
    private var decoder: NMEADecoder
    private var sentences = 0
    /// The counts of position sentences at the time of the last fix.
    private var countsAtLastFix = DecoderStatistics.PositionCounts()
    private var hasWarnedOfRejections = false
    private var isRejectionWarningPending = false
    /// The program at the other end, if the first bytes reveal it; otherwise `nil`.
    private var speaker: OtherSpeaker?
    private var hasBegun = false
    private var text = ReadableText()

    init(_ decoder: NMEADecoder = NMEADecoder()) { self.decoder = decoder }

    mutating func decode(_ bytes: Span<UInt8>, at now: Duration, _ emit: (Fix) -> Void) -> Int {
        if !hasBegun, bytes.count > 0 {
            hasBegun = true
            speaker = OtherSpeaker(bytes)
        }
        if sentences == 0 { text.add(bytes) }
        var hasFix = false
        decoder.decode(bytes, receivedAt: now) { fix in
            hasFix = true
            emit(fix)
        }
        let before = sentences
        let statistics = decoder.statistics
        sentences = statistics.sentences
        if hasFix {
            countsAtLastFix = statistics.positionCounts
            hasWarnedOfRejections = false
        } else if !hasWarnedOfRejections, statistics.rejection(since: countsAtLastFix) != nil {
            hasWarnedOfRejections = true
            isRejectionWarningPending = true
        }
        return sentences - before
    }

    mutating func handleIdleLine(at now: Duration, _ emit: (Fix) -> Void) { decoder.handleIdleLine(at: now, emit) }
    mutating func finish(_ emit: (Fix) -> Void) { decoder.finish(emit) }
    mutating func takeWarning() -> ReceiverWarning? {
        guard isRejectionWarningPending else { return decoder.takeWarning() }
        isRejectionWarningPending = false
        return .positionsRejected
    }
    mutating func takeSky(at now: Duration) -> Sky? { decoder.takeSky(at: now) }

    var idleDeadline: Duration? { decoder.idleDeadline }
    var obstacle: ReceiverFault? { decoder.lacksDate ? .noDate : nil }

    var findings: LineFindings {
        let statistics = decoder.statistics
        var findings = LineFindings(hasBinaryFrames: statistics.binaryBytes > 0, statistics: statistics)
        guard sentences == 0 else {
            findings.positionFault = positionFault(statistics)
            return findings
        }
        findings.lacksChecksums = statistics.isMainRejection(.missingChecksum)
        // Bytes that begin like a sentence count as a rejected sentence, so they aren't reported as text.
        findings.isReadableText =
            statistics.rejectedSentences == 0 && !findings.hasBinaryFrames && text.isReadable
        findings.textBeginning = text.beginning
        findings.otherSpeaker = speaker.map { .otherSpeaker($0) }
        if findings.lacksChecksums {
            findings.noiseFault = .noChecksums
        } else if findings.hasBinaryFrames {
            findings.noiseFault = .binaryFrames
        } else if statistics.rejections(.checksumMismatch).count > 2, statistics.isMainRejection(.checksumMismatch) {
            // One or two such sentences may be noise that looks like sentences.
            findings.noiseFault = .wrongChecksums
        } else {
            findings.noiseFault = findings.otherSpeaker
        }
        return findings
    }

    private func positionFault(_ statistics: DecoderStatistics) -> ReceiverFault? {
        if let rejection = statistics.rejection(since: countsAtLastFix) {
            return .positionsRejected("\(rejection.mostFrequent)", areAll: rejection.rejected == rejection.total)
        }
        guard statistics.positionSentences == 0 else { return nil }
        if statistics.hasManyWrongChecksums { return .noPositionSentences(.wrongChecksums) }
        return .noPositionSentences(statistics.hasOnlyAIS ? .otherShips : .otherSentences)
    }
}

/// A test of whether bytes are text for human readers, such as the output of a modem or a console.
private struct ReadableText: Sendable {
    /// The minimum number of readable bytes. Fewer may be readable by chance if the baud rate is wrong.
    private static let minimumCount = 7
    private static let maximumBeginning = 60

    private var readableCount = 0
    private var totalCount = 0
    private var firstBytes: [UInt8] = []

    mutating func add(_ input: Span<UInt8>) {
        var negotiation = 0
        // A Telnet server first sends three bytes for each option that it offers or requests. They don't count as text.
        while totalCount == 0, negotiation + 3 <= input.count, input[negotiation] == 0xFF,
            0xFB...0xFE ~= input[negotiation + 1]
        {
            negotiation += 3
        }
        let bytes = input.extracting(droppingFirst: negotiation)
        for index in bytes.indices.prefix(Self.maximumBeginning - firstBytes.count) { firstBytes.append(bytes[index]) }
        for index in bytes.indices where 0x20...0x7E ~= bytes[index] || 0x09...0x0D ~= bytes[index] {
            readableCount += 1
        }
        totalCount += bytes.count
    }

    /// Whether the bytes are readable. One byte in twenty may be damaged.
    var isReadable: Bool { readableCount >= Self.minimumCount && readableCount * 20 >= totalCount * 19 }

    /// The first line; `nil` if it contains a number with three decimals, which may be a coordinate and must not be
    /// logged.
    var beginning: ReportedText? {
        guard let line = firstBytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).first else { return nil }
        let hasDecimals = line.indices.contains { index in
            let decimals = line[index...].dropFirst().prefix(3)
            return [UInt8(ascii: "."), UInt8(ascii: ",")].contains(line[index]) && decimals.count == 3
                && decimals.allSatisfy { 0x30...0x39 ~= $0 }
        }
        return hasDecimals ? nil : ReportedText(bytes: line)
    }
}

extension OtherSpeaker {
    init?(_ bytes: Span<UInt8>) {
        let beginnings: [(String, Self)] = [
            ("{\"class\":\"", .gpsd), ("HTTP/", .webServer), ("<!DOCTYPE", .webServer), ("<html", .webServer),
            ("SSH-", .secureShell), ("SOURCETABLE ", .caster), ("ICY ", .caster),
        ]
        guard
            let (_, speaker) = beginnings.first(where: { words, _ in
                bytes.count >= words.utf8.count && words.utf8.enumerated().allSatisfy { bytes[$0.offset] == $0.element }
            })
        else { return nil }
        self = speaker
    }
}

extension DecoderStatistics {
    /// Whether more than half of the rejected sentences were rejected for `reason`. The others may be noise that
    /// contains a `$`.
    func isMainRejection(_ reason: SentenceRejection) -> Bool { rejections(reason).count * 2 > rejectedSentences }

    var rejectedSentences: Int { SentenceRejection.allCases.reduce(0) { $0 + rejections($1).count } }

    /// Whether all sentences are from an AIS receiver.
    var hasOnlyAIS: Bool {
        sentences > 0 && sentencesByAddress.allSatisfy { Talker.code(ofAddress: $0.address) == "AI" }
    }

    /// Whether more sentences have a wrong checksum than noise on the line explains. If so, missing position sentences
    /// may be among them.
    var hasManyWrongChecksums: Bool {
        let mismatches = rejections(.checksumMismatch).count
        return mismatches > 2 && mismatches * 10 > sentences + mismatches
    }

    /// The number of position sentences, which are of a type that contains a position, and how many of them were
    /// rejected because of a field.
    struct PositionCounts: Sendable, Hashable {
        var total = 0
        var rejected = 0
    }

    var positionCounts: PositionCounts { PositionCounts(total: positionSentences, rejected: rejectedPositions) }

    /// Returns the reason why most position sentences since `counts` were rejected; `nil` if most weren't. At least
    /// three rejections are required, because a damaged sentence may have a correct checksum by chance.
    func rejection(since counts: PositionCounts = PositionCounts()) -> PositionRejection? {
        let rejected = rejectedPositions - counts.rejected
        guard rejected > 2, let mostFrequent = mostFrequentRejection else { return nil }
        let total = positionSentences - counts.total
        guard rejected * 2 > total else { return nil }
        return PositionRejection(rejected: rejected, total: total, mostFrequent: mostFrequent)
    }

    /// The rejection that explains why a log has no fixes; `nil` if the log has fixes or if there is another reason.
    var rejection: PositionRejection? { epochs.fixes == 0 ? rejection() : nil }
}

/// Position sentences that were rejected because the receiver writes a field in a non-standard format.
struct PositionRejection {
    let rejected: Int
    let total: Int
    /// The field that caused the most rejections.
    let mostFrequent: FieldFaultCount
}
