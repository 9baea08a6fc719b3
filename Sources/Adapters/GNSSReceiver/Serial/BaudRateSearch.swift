import LinuxPlatform

/// Looks for the rate at which a receiver sends: a decision, told what came while the line was open at `rate`.
///
/// One sentence with a right checksum decides. A binary frame does not: a receiver that sends NMEA as well gives a
/// sentence within the same trial, and one that does not gives no fix at any rate; but the complaint says at which rate
/// frames came. The search never ends, as a receiver may start late or be switched to NMEA.
struct BaudRateSearch: Sendable, Hashable {
    /// The best that came during a trial.
    enum Evidence: Int, Sendable, Hashable, Comparable {
        case silence, noise
        /// Text that a person could read: the right rate, but no receiver, or one that is not set to NMEA.
        case text
        /// Whole frames of UBX or RTCM 3: the right rate, but the wrong protocol.
        case binaryFrames
        /// Sentences that lack nothing but their checksums: the right rate, but they are not taken.
        case withoutChecksum
        /// The rate was right, and then nothing usable came for long.
        case sentences

        static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    /// What to do next.
    enum Action: Sendable, Hashable {
        case open(at: Int)
        /// All rates have been tried in vain: the operator should know `complaint`; then the first one again.
        case tell(complaint: String, thenOpenAt: Int)
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
    private var best = Evidence.silence
    /// Where `best` came first.
    private var bestAt: Int?
    /// The operator knows what is wrong; that another rate is tried is not reported then.
    private var isComplaintTold = false
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
        isComplaintTold = false
    }

    /// The line is closed, after a trial or because a good line brought nothing usable for long.
    mutating func lineClosed(after evidence: Evidence) -> Action {
        if evidence == .sentences {
            isComplaintTold = true
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
        let complaint = complaint
        beginRound()
        isComplaintTold = true
        rate = order[0]
        return .tell(complaint: complaint, thenOpenAt: rate)
    }

    /// The line cannot be opened: what is there when it can may be another receiver.
    mutating func lineIsMissing() {
        beginRound()
        rate = order[0]
        isComplaintTold = false
    }

    /// Whether the operator should hear which rate is tried now.
    var isOpeningNews: Bool { !isComplaintTold }

    /// How the line stands that has just been opened.
    var greeting: String {
        if rate == lastGood, tried.isEmpty { return "open at \(rate) baud, waiting for the first sentence" }
        let vain = tried.isEmpty ? "" : " (no NMEA at \(Self.list(tried, "and")))"
        return "looking for the baud rate, now \(rate)\(vain)"
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

    /// What the port is on which text arrives, and what to do.
    static let remedyForText =
        "a modem's or a console's port, or a receiver that is not set to NMEA; name the receiver's port "
        + "(receiver.device), or switch its output to NMEA"

    private var complaint: String {
        switch best {
        case .silence:
            "silent at every usual baud rate; check power and cable, and that this is the port on which the receiver "
                + "sends NMEA; still looking"
        case .noise, .sentences:
            "bytes arrive but no NMEA sentence at \(Self.list(tried, "or")) baud; switch the receiver's output to "
                + "NMEA, or set baudRate when it sends at another rate; still looking"
        case .text:
            "readable text arrives at \(bestAt ?? rate) baud, but no NMEA sentence; this is \(Self.remedyForText); "
                + "still looking"
        case .binaryFrames:
            "binary frames (UBX or RTCM) but no NMEA sentence at \(bestAt ?? rate) baud; switch the receiver's output "
                + "to NMEA; still looking"
        case .withoutChecksum:
            "sentences arrive at \(bestAt ?? rate) baud, but without a checksum; if the receiver has none, set "
                + "receiver.acceptMissingChecksum to true; still looking"
        }
    }

    private static func list(_ rates: [Int], _ word: String) -> String {
        let texts = rates.map(String.init)
        guard let last = texts.last, texts.count > 1 else { return texts.first ?? "" }
        return texts.dropLast().joined(separator: ", ") + " \(word) \(last)"
    }
}

/// One opening of a line at one of several baud rates, as the search stood then.
struct RateTrial: Sendable {
    private let search: Locked<BaudRateSearch>
    /// How long to wait for a first sentence before another rate is tried.
    let limit: Duration
    /// Whether the greeting is reported even if the line was reopened for bringing nothing.
    let isOpeningNews: Bool
    /// What the first sentence proves.
    let discovery: String
    private let found: @Sendable (Int) -> Void

    /// `found` is called with the rate when a sentence has come.
    init(_ search: Locked<BaudRateSearch>, found: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.search = search
        self.found = found
        let now = search.withLock { $0 }
        limit = now.trial
        isOpeningNews = now.isOpeningNews
        discovery = "at \(now.rate) baud (found; \"baudRate\": \(now.rate) in the configuration saves the search)"
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
    func lineClosed(after evidence: BaudRateSearch.Evidence) -> String? {
        switch search.withLock({ $0.lineClosed(after: evidence) }) {
        case .open: nil
        case .tell(let complaint, _): complaint
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
