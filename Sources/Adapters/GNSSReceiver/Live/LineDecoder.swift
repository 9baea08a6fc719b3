import GNSS
import ReportedText
import Reporting

/// Makes fixes of the bytes of one open line, whatever is spoken on it; all times are on one monotonic scale.
///
/// It is called once a read, not once a sentence.
protocol LineDecoder: Sendable {
    /// Takes the next bytes; gives how many sentences were in them, or what stands for one: each proves that a receiver
    /// is there.
    mutating func take(_ bytes: Span<UInt8>, at now: Duration, _ emit: (Fix) -> Void) -> Int
    /// Nothing has come until `now`: completes the current epoch if its time is over.
    mutating func lineIsIdle(at now: Duration, _ emit: (Fix) -> Void)
    /// The line has ended: completes the current epoch.
    mutating func finish(_ emit: (Fix) -> Void)
    /// When a quiet line completes the current epoch; `nil` when none is.
    var idleDeadline: Duration? { get }
    /// A kind of warning that has come since it was last taken; `nil` when all are.
    mutating func takeWarning() -> ReceiverWarning?
    /// What is seen of the satellites, if anything was said of them since the last call.
    mutating func takeSky(at now: Duration) -> Sky?
    /// Whether whole frames of a binary protocol have come: the rate is right, and what is spoken is not wanted.
    var hasBinaryFrames: Bool { get }
    /// Whether what comes are sentences that lack nothing but their checksums.
    var lacksChecksums: Bool { get }
    /// Whether what comes is text that a person could read, and no sentence: the rate is right.
    var isReadableText: Bool { get }
    /// How that text begins; `nil` where a position may stand in it.
    var textBeginning: ReportedText? { get }
    /// What answers in place of what was expected; `nil` if that isn't known.
    var stranger: OtherSpeaker? { get }
    /// Why no sentence that has come can lead to a position; `nil` if one can, or none has come.
    var lackOfPositions: ReceiverFault? { get }
    /// What is wrong with bytes that aren't sentences, as far as they show it.
    var causeOfNoise: ReceiverFault? { get }
    /// Of all sentences that have come; `nil` where none are read.
    var statistics: DecoderStatistics? { get }
    /// What the other side says that keeps fixes from coming; `nil` if it says no such thing.
    var obstacle: ReceiverFault? { get }
}

extension LineDecoder {
    mutating func takeWarning() -> ReceiverWarning? { nil }
    mutating func takeSky(at now: Duration) -> Sky? { nil }
    var hasBinaryFrames: Bool { false }
    var lacksChecksums: Bool { false }
    var isReadableText: Bool { false }
    var textBeginning: ReportedText? { nil }
    var stranger: OtherSpeaker? { nil }
    var lackOfPositions: ReceiverFault? { nil }
    var causeOfNoise: ReceiverFault? { nil }
    var statistics: DecoderStatistics? { nil }
    var obstacle: ReceiverFault? { nil }
}

/// NMEA 0183 as live receivers send it.
struct SentenceDecoder: LineDecoder {
    private var decoder: NMEADecoder
    /// Sentences so far.
    private var sentences = 0
    /// What had come when the last position came.
    private var atLastFix = DecoderStatistics.PositionCounts()
    private var hasWarnedOfRejections = false
    private var owesWarningOfRejections = false
    /// What sends no sentences, by its first bytes.
    private var speaker: OtherSpeaker?
    private var hasBegun = false
    private var text = ReadableText()

    init(_ decoder: NMEADecoder = NMEADecoder()) { self.decoder = decoder }

    mutating func take(_ bytes: Span<UInt8>, at now: Duration, _ emit: (Fix) -> Void) -> Int {
        if !hasBegun, bytes.count > 0 {
            hasBegun = true
            speaker = OtherSpeaker(bytes)
        }
        if sentences == 0 { text.take(bytes) }
        var hasFix = false
        decoder.decode(bytes, receivedAt: now) { fix in
            hasFix = true
            emit(fix)
        }
        let before = sentences
        let statistics = decoder.statistics
        sentences = statistics.sentences
        if hasFix {
            atLastFix = statistics.positionCounts
            hasWarnedOfRejections = false
        } else if !hasWarnedOfRejections, statistics.rejection(since: atLastFix) != nil {
            hasWarnedOfRejections = true
            owesWarningOfRejections = true
        }
        return sentences - before
    }

    mutating func lineIsIdle(at now: Duration, _ emit: (Fix) -> Void) { decoder.lineIsIdle(at: now, emit) }
    mutating func finish(_ emit: (Fix) -> Void) { decoder.finish(emit) }
    mutating func takeWarning() -> ReceiverWarning? {
        guard owesWarningOfRejections else { return decoder.takeWarning() }
        owesWarningOfRejections = false
        return .positionsRejected
    }
    mutating func takeSky(at now: Duration) -> Sky? { decoder.takeSky(at: now) }

    var statistics: DecoderStatistics? { decoder.statistics }

    var lacksChecksums: Bool { sentences == 0 && decoder.statistics.isMostly(.missingChecksum) }

    var causeOfNoise: ReceiverFault? {
        guard sentences == 0 else { return nil }
        if lacksChecksums { return .noChecksums }
        if hasBinaryFrames { return .binaryFrames }
        // A sentence or two may be noise.
        if decoder.statistics.refusals(.checksumMismatch).count > 2, decoder.statistics.isMostly(.checksumMismatch) {
            return .wrongChecksums
        }
        return stranger.map { .otherSpeaker($0) }
    }

    var stranger: OtherSpeaker? { sentences == 0 ? speaker : nil }

    /// What began like a sentence is judged as one.
    var isReadableText: Bool {
        sentences == 0 && decoder.statistics.refusedSentences == 0 && !hasBinaryFrames && text.isReadable
    }

    var textBeginning: ReportedText? { text.beginning }

    var lackOfPositions: ReceiverFault? {
        let statistics = decoder.statistics
        if let rejection = statistics.rejection(since: atLastFix) {
            return .positionsRejected("\(rejection.most)", areAll: rejection.rejected == rejection.stated)
        }
        guard statistics.sentences > 0, !statistics.hasPositionSentences else { return nil }
        if statistics.lostManyToChecksums { return .noPositionSentences(.wrongChecksums) }
        return .noPositionSentences(statistics.isAISAlone ? .otherShips : .otherSentences)
    }

    var obstacle: ReceiverFault? { decoder.lacksDate ? .noDate : nil }

    var hasBinaryFrames: Bool { decoder.statistics.binaryBytes > 0 }
    var idleDeadline: Duration? { decoder.idleDeadline }
}

/// Whether bytes are text that a person could read, as a modem or a console sends it.
private struct ReadableText: Sendable {
    /// Fewer may be readable by chance, as what is read at a wrong rate.
    private static let fewest = 7

    /// As many are kept of how it begins.
    private static let longestBeginning = 60

    private var readable = 0
    private var all = 0
    private var first: [UInt8] = []

    mutating func take(_ input: Span<UInt8>) {
        var negotiation = 0
        // A Telnet server begins with three bytes for each option that it offers or asks for.
        while all == 0, negotiation + 3 <= input.count, input[negotiation] == 0xFF,
            0xFB...0xFE ~= input[negotiation + 1]
        {
            negotiation += 3
        }
        let bytes = input.extracting(droppingFirst: negotiation)
        for index in bytes.indices.prefix(Self.longestBeginning - first.count) { first.append(bytes[index]) }
        for index in bytes.indices where 0x20...0x7E ~= bytes[index] || 0x09...0x0D ~= bytes[index] { readable += 1 }
        all += bytes.count
    }

    /// A cable spoils a byte now and then.
    var isReadable: Bool { readable >= Self.fewest && readable * 20 >= all * 19 }

    /// Its first line. Positions are kept out of logs, and are numbers with more decimals than those of releases.
    var beginning: ReportedText? {
        guard let line = first.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).first else { return nil }
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
    /// Whether sentences are refused, and more than half of them for `reason`: noise has a `$` here and there, too.
    func isMostly(_ reason: SentenceRefusal) -> Bool { refusals(reason).count * 2 > refusedSentences }

    var refusedSentences: Int { SentenceRefusal.allCases.reduce(0) { $0 + refusals($1).count } }

    /// Whether all sentences are those of an AIS receiver.
    var isAISAlone: Bool {
        sentences > 0 && sentencesByAddress.allSatisfy { Talker.talker(ofAddress: $0.address) == "AI" }
    }

    /// Whether what is missing may be among the sentences whose checksum does not agree: no usual noise spoils so many.
    var lostManyToChecksums: Bool {
        let mismatches = refusals(.checksumMismatch).count
        return mismatches > 2 && mismatches * 10 > sentences + mismatches
    }

    /// Sentences with a position, and how many of them were rejected for a field.
    struct PositionCounts: Sendable, Hashable {
        var stated = 0
        var rejected = 0
    }

    var positionCounts: PositionCounts { PositionCounts(stated: positionSentences, rejected: rejectedPositions) }

    /// Why most sentences with a position that came after `counts` were rejected; `nil` if they weren't. Cut sentences
    /// whose checksum agrees by chance are too few.
    func rejection(since counts: PositionCounts = PositionCounts()) -> PositionRejection? {
        let rejected = rejectedPositions - counts.rejected
        guard rejected > 2, let most = mostFrequentRejection else { return nil }
        let stated = positionSentences - counts.stated
        guard rejected * 2 > stated else { return nil }
        return PositionRejection(rejected: rejected, stated: stated, most: most)
    }

    /// The rejection that keeps a log from having fixes.
    var rejection: PositionRejection? { epochs.fixes == 0 ? rejection() : nil }
}

/// Sentences with a position that were rejected for a field that their receiver writes in its own way.
struct PositionRejection {
    let rejected: Int
    let stated: Int
    /// The field for which most of them were rejected.
    let most: FieldFaultCount
}
