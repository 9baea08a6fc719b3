import LinuxPlatform
import Reporting

/// Looks for the rate at which a receiver sends: a decision, told what came while the line was open at `rate`.
///
/// One sentence with a right checksum decides. A binary frame does not: a receiver that sends NMEA as well gives a
/// sentence within the same trial, and one that does not gives no fix at any rate; but the complaint says at which rate
/// frames came. The search never ends, as a receiver may start late or be switched to NMEA.
struct BaudRateSearch: Sendable, Hashable {
    /// What to do next.
    enum Action: Sendable, Hashable {
        case open(at: Int)
        /// All rates have been tried in vain: the operator should know; then the first one again.
        case report(ReceiverFault, thenOpenAt: Int)
    }

    /// In the order in which they are likely.
    static let candidates = [9600, 115_200, 38_400, 4800, 57_600, 230_400, 460_800]
    /// Long enough for a whole burst of a receiver that sends every second or every other.
    private static let longEnough = Duration.milliseconds(2500)

    /// The rate to open the line with, or at which it is open.
    private(set) var rate: Int
    private var lastGood: Int?
    /// What this round has brought, in order.
    private var tried: [Int] = []
    private var best = BaudRateEvidence.silence
    /// Where `best` came first.
    private var bestAt: Int?
    /// The operator knows what is wrong; that another rate is tried is not reported then.
    private var isFaultReported = false
    private let usualTrial: Duration

    /// `trial` is how long a rate is tried; the one that was right before has twice the time, as its receiver may be
    /// starting.
    ///
    /// `lastGood`: the rate that was right when the process last looked.
    init(trial: Duration = Self.longEnough, lastGood: Int? = nil) {
        usualTrial = trial
        self.lastGood = lastGood
        rate = lastGood ?? Self.candidates[0]
    }

    /// How long the line is open at `rate` before it is closed without a sentence.
    var trial: Duration { rate == lastGood ? usualTrial * 2 : usualTrial }

    fileprivate static var roundTime: Duration { longEnough * (candidates.count + 1) }

    mutating func sentenceArrived() {
        lastGood = rate
        beginRound()
        isFaultReported = false
    }

    /// The line is closed, after a trial or because a good line brought nothing usable for long.
    mutating func lineClosed(after evidence: BaudRateEvidence) -> Action {
        if evidence == .sentences {
            isFaultReported = true
            return .open(at: rate)
        }
        tried.append(rate)
        if evidence > best {
            best = evidence
            bestAt = rate
        }
        if let next = order.first(where: { !tried.contains($0) }) {
            rate = next
            return .open(at: next)
        }
        let fault = ReceiverFault.noBaudRate(best, baudRate: bestAt ?? rate, tried: tried)
        beginRound()
        isFaultReported = true
        rate = order[0]
        return .report(fault, thenOpenAt: rate)
    }

    /// The line cannot be opened: what is there when it can may be another receiver.
    mutating func lineIsMissing() {
        beginRound()
        rate = order[0]
        isFaultReported = false
    }

    /// Whether the operator should hear which rate is tried now.
    var isOpeningNews: Bool { !isFaultReported }

    /// How the line stands that has just been opened.
    var start: ReceiverStart {
        rate == lastGood && tried.isEmpty ? .openedAt(baudRate: rate) : .searching(baudRate: rate, tried: tried)
    }

    private var order: [Int] {
        guard let lastGood else { return Self.candidates }
        return [lastGood] + Self.candidates.filter { $0 != lastGood }
    }

    private mutating func beginRound() {
        tried = []
        best = .silence
        bestAt = nil
    }

}

/// One opening of a line at one of several baud rates, as the search stood then.
struct RateTrial: Sendable {
    private let search: Locked<BaudRateSearch>
    /// How long to wait for a first sentence before another rate is tried.
    let limit: Duration
    /// Whether the opening is reported even if the line was reopened for bringing nothing.
    let isOpeningNews: Bool
    /// The rate at which the line is open.
    let rate: Int
    private let found: @Sendable (Int) -> Void

    /// `found` is called with the rate when a sentence has come.
    init(_ search: Locked<BaudRateSearch>, found: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.search = search
        self.found = found
        let now = search.withLock { $0 }
        limit = now.trial
        isOpeningNews = now.isOpeningNews
        rate = now.rate
    }

    /// A sentence has come for the first time since the line was opened.
    func firstSentenceArrived() {
        let rate = search.withLock { search in
            search.sentenceArrived()
            return search.rate
        }
        found(rate)
    }

    /// The line is closed for bringing no sentence for too long; gives what the operator should know now.
    func lineClosed(after evidence: BaudRateEvidence) -> ReceiverFault? {
        switch search.withLock({ $0.lineClosed(after: evidence) }) {
        case .open: nil
        case .report(let fault, _): fault
        }
    }
}

/// The baud rate at which the receiver of a device was found to send.
package struct FoundBaudRate: Sendable, Hashable, Codable {
    let device: String
    let rate: Int
}

/// How fast a receiver on a serial line sends.
package enum BaudRate: Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// Bits a second, one of `supported`.
    case fixed(Int)
    /// Looked for at each opening, the rate that was right last time first.
    case automatic

    package init(integerLiteral rate: Int) { self = .fixed(rate) }

    /// Those to choose from; any other is reported as a state that does not resolve itself.
    package static var supported: [Int] { SerialLine.supportedBaudRates }

    /// How long it may take to find the rate of a receiver that sends.
    package static var longestSearch: Duration { BaudRateSearch.roundTime }
}
