import LinuxPlatform
import Reporting

/// A search for the baud rate of a receiver. The line is opened at one rate after another, and each rate is judged by
/// the bytes that arrive.
///
/// The first sentence with a correct checksum ends the search. A binary frame doesn't end it, because a receiver that
/// also sends NMEA will send a sentence within the same trial. If a receiver sends only binary frames, no rate can
/// yield a fix; the reported fault then names the rate at which the frames arrived. The search never ends without a
/// sentence, because a receiver may start late or be switched to NMEA.
struct BaudRateSearch: Sendable, Hashable {
    /// The rates to try, most likely first.
    static let candidates = [9600, 115_200, 38_400, 4800, 57_600, 230_400, 460_800]
    /// The usual duration of a trial: long enough for a whole burst of a receiver that sends every one or two seconds.
    private static let standardTrial = Duration.milliseconds(2500)

    /// The rate at which the line is open, or will be opened next.
    private(set) var rate: Int
    private var lastGood: Int?
    /// The rates that have been tried in the current round, in order. A round tries each rate once.
    private var triedRates: [Int] = []
    private var bestEvidence = BaudRateEvidence.silence
    /// The first rate at which the evidence was `bestEvidence`; `nil` before there was any evidence.
    private var bestRate: Int?
    /// Whether a fault has been reported. If so, the rates that are tried afterwards aren't reported.
    private var isFaultReported = false
    private let usualTrial: Duration

    /// - Parameters:
    ///   - trial: the time for which a rate is tried; `lastGood` is tried twice as long, because the receiver may be
    ///     starting.
    ///   - lastGood: the rate that worked last time.
    init(trial: Duration = Self.standardTrial, lastGood: Int? = nil) {
        usualTrial = trial
        self.lastGood = lastGood
        rate = lastGood ?? Self.candidates[0]
    }

    /// The time to wait for a sentence at `rate`.
    var trial: Duration { rate == lastGood ? usualTrial * 2 : usualTrial }

    fileprivate static var roundTime: Duration { standardTrial * (candidates.count + 1) }

    mutating func recordSentence() {
        lastGood = rate
        beginRound()
        isFaultReported = false
    }

    /// Records that the line was closed, because its trial is over or because a good line has long been without
    /// sentences. After an unsuccessful trial, advances `rate`. Returns the fault to report if all rates have been
    /// tried; otherwise `nil`.
    mutating func recordClosing(after evidence: BaudRateEvidence) -> ReceiverFault? {
        if evidence == .sentences {
            isFaultReported = true
            return nil
        }
        triedRates.append(rate)
        if evidence > bestEvidence {
            bestEvidence = evidence
            bestRate = rate
        }
        if let next = rateOrder.first(where: { !triedRates.contains($0) }) {
            rate = next
            return nil
        }
        let fault = ReceiverFault.noBaudRate(bestEvidence, baudRate: bestRate ?? rate, tried: triedRates)
        beginRound()
        isFaultReported = true
        rate = rateOrder[0]
        return fault
    }

    /// Starts over when the line can't be opened, because another receiver may be connected when it can be opened
    /// again.
    mutating func startOver() {
        beginRound()
        rate = rateOrder[0]
        isFaultReported = false
    }

    /// Whether to report the rate that is being tried.
    var isOpeningReported: Bool { !isFaultReported }

    /// The state to report for the line that has just been opened.
    var start: ReceiverStart {
        rate == lastGood && triedRates.isEmpty
            ? .openedAt(baudRate: rate) : .searching(baudRate: rate, tried: triedRates)
    }

    private var rateOrder: [Int] {
        guard let lastGood else { return Self.candidates }
        return [lastGood] + Self.candidates.filter { $0 != lastGood }
    }

    private mutating func beginRound() {
        triedRates = []
        bestEvidence = .silence
        bestRate = nil
    }
}

/// The trial of one baud rate: an opening of the line, and the state of the search at that time.
struct RateTrial: Sendable {
    private let search: Locked<BaudRateSearch>
    /// The time to wait for a first sentence before another rate is tried.
    let limit: Duration
    /// Whether to report the opening even if the line was reopened because it was silent.
    let isOpeningReported: Bool
    let rate: Int
    private let onFound: @Sendable (Int) -> Void

    /// Creates a trial of the search's current rate. After the first sentence, `onFound` is called with the rate.
    init(_ search: Locked<BaudRateSearch>, onFound: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.search = search
        self.onFound = onFound
        let now = search.withLock { $0 }
        limit = now.trial
        isOpeningReported = now.isOpeningReported
        rate = now.rate
    }

    func recordFirstSentence() {
        let rate = search.withLock { search in
            search.recordSentence()
            return search.rate
        }
        onFound(rate)
    }

    /// Records that the line was closed, and the evidence seen until then. Returns the fault to report; `nil` if there
    /// is none.
    func recordClosing(after evidence: BaudRateEvidence) -> ReceiverFault? {
        search.withLock { $0.recordClosing(after: evidence) }
    }
}

/// The baud rate that was found for a device.
package struct FoundBaudRate: Sendable, Hashable, Codable {
    let device: String
    let rate: Int
}

/// The configured baud rate of a serial port.
package enum BaudRate: Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// A rate in bits per second, one of `supported`.
    case fixed(Int)
    /// A rate that is searched for at each opening, beginning with the rate that worked last.
    case automatic

    package init(integerLiteral rate: Int) { self = .fixed(rate) }

    /// The supported rates. Any other rate is a fault that doesn't resolve itself.
    package static var supported: [Int] { SerialLine.supportedBaudRates }

    /// The maximum time that the search takes if the receiver is sending.
    package static var maximumSearchTime: Duration { BaudRateSearch.roundTime }
}
