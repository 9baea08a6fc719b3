package import GNSS
import LinuxPlatform
package import LocationReporting

/// Fixes from a receiver on a serial line (or a USB device that poses as one).
///
/// A link such as `/dev/serial/by-id/...` is followed anew at each opening, so that a receiver that comes back under
/// another number is found.
package struct SerialReceiver: FixSource {
    private let receiver: LiveReceiver

    /// The baud rates to choose from; any other is reported as a state that does not mend.
    package static var supportedBaudRates: [Int] { SerialLine.supportedBaudRates }

    /// `patience` is how long the line may be without a sentence before that is reported.
    package init(
        device: String, baudRate: BaudRate, decoder: NMEADecoder = NMEADecoder(), patience: Duration = .seconds(5),
        tap: (any ReceiverTap)? = nil
    ) {
        let endpoint: any ReceiverEndpoint =
            switch baudRate {
            case .fixed(let baudRate): SerialEndpoint(device: device, baudRate: baudRate)
            case .automatic: SearchingSerialEndpoint(device: device)
            }
        receiver = LiveReceiver(endpoint: endpoint, decoder: decoder, patience: patience, tap: tap)
    }

    /// How long it may take to find the rate of a receiver that sends.
    package static var longestSearch: Duration { BaudRateSearch.roundTime }

    package func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        try await receiver.run(deliver: deliver)
    }
}

/// A serial device by its path, at a rate that is known.
struct SerialEndpoint: ReceiverEndpoint {
    let device: String
    let baudRate: Int

    var name: String { device }

    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        do throws(SerialLineError) {
            return OpenSerialLine(try SerialLine(path: device, baudRate: baudRate), baudRate: baudRate)
        } catch {
            throw .notNow(error.reason)
        }
    }

    func complaint(about trouble: LineTrouble, for limit: Duration) -> String {
        switch trouble {
        case .silence: Self.silence(on: device, for: limit)
        case .noise:
            "bytes come but no NMEA sentence for \(limit.components.seconds) s; check baudRate, now \(baudRate) "
                + "(\"automatic\" finds the right one), or switch the receiver's output to NMEA"
                + Self.otherReaders(of: device)
        }
    }

    func watchForReturn() -> DirectoryWatch? { Self.watchForReturn(of: device) }

    /// What is said of a serial line on which nothing comes.
    static func silence(on device: String, for limit: Duration) -> String {
        "silent for \(limit.components.seconds) s; check power and cable, and that this is the port on which the "
            + "receiver sends NMEA" + otherReaders(of: device)
    }

    /// `nil` where the system has no inotify descriptor left: then the line is tried from time to time only.
    static func watchForReturn(of device: String) -> DirectoryWatch? { try? DirectoryWatch(for: device) }

    /// Each reader of a serial line takes bytes away from the others.
    private static func otherReaders(of device: String) -> String {
        let others = DeviceHolder.others(of: device)
        return others.isEmpty ? "" : "; also open in \(DeviceHolder.explanation(of: others, for: device))"
    }
}

/// A serial line as the loop sees it.
private final class OpenSerialLine: ReceiverLine {
    private let line: SerialLine
    private let baudRate: Int

    init(_ line: SerialLine, baudRate: Int) { (self.line, self.baudRate) = (line, baudRate) }

    var raw: CInt { line.raw }
    var greeting: String { "open at \(baudRate) baud, waiting for the first sentence" }

    func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> LineRead {
        try LineRead(from: line, into: &buffer)
    }
}

/// A serial device whose baud rate is looked for: each opening tries one, as `BaudRateSearch` says.
///
/// A USB device that poses as a serial line takes any rate, so the first one does. Nothing is ever written.
struct SearchingSerialEndpoint: ReceiverEndpoint {
    let device: String
    private let search: Locked<BaudRateSearch>

    init(device: String, search: BaudRateSearch = BaudRateSearch()) {
        (self.device, self.search) = (device, Locked(search))
    }

    var name: String { device }

    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        var refusals = 0
        while true {
            let rate = search.withLock { $0.rate }
            do throws(SerialLineError) {
                return SearchedSerialLine(try SerialLine(path: device, baudRate: rate), search)
            } catch {
                // A driver that cannot do one rate may do the next.
                guard case .baudRateNotTaken = error, refusals < BaudRateSearch.candidates.count else {
                    search.withLock { $0.lineIsMissing() }
                    throw .notNow(error.reason)
                }
                refusals += 1
                _ = search.withLock { $0.lineGivenUp(after: .silence) }
            }
        }
    }

    /// Of a line whose rate was right: before that it is given up sooner.
    func complaint(about trouble: LineTrouble, for limit: Duration) -> String {
        let rate = search.withLock { $0.rate }
        return switch trouble {
        case .silence: SerialEndpoint.silence(on: device, for: limit)
        case .noise:
            "bytes come but no NMEA sentence for \(limit.components.seconds) s at \(rate) baud, where there was; if it "
                + "stays so, the rate is looked for again"
        }
    }

    func watchForReturn() -> DirectoryWatch? { SerialEndpoint.watchForReturn(of: device) }
}

/// A serial line that is open at one of several rates.
private final class SearchedSerialLine: ReceiverLine {
    private let line: SerialLine
    private let search: Locked<BaudRateSearch>
    let trial: Duration?
    let greeting: String
    let isOpeningNews: Bool
    let discovery: String

    init(_ line: SerialLine, _ search: Locked<BaudRateSearch>) {
        (self.line, self.search) = (line, search)
        let now = search.withLock { $0 }
        (trial, greeting, isOpeningNews) = (now.trial, now.greeting, now.isOpeningNews)
        discovery = "at \(now.rate) baud (found; \"baudRate\": \(now.rate) in the configuration saves the search)"
    }

    var raw: CInt { line.raw }

    func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> LineRead {
        try LineRead(from: line, into: &buffer)
    }

    func firstSentenceArrived() { search.withLock { $0.sentenceArrived() } }

    func givenUp(after evidence: BaudRateSearch.Evidence) -> String? {
        switch search.withLock({ $0.lineGivenUp(after: evidence) }) {
        case .open: nil
        case .tell(let complaint, _): complaint
        }
    }
}
