import LinuxPlatform

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
