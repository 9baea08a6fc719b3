import Glibc
package import GNSS
package import LinuxPlatform

extension LiveReceiver {
    /// Fixes from a receiver on a serial line (or a USB device that poses as one).
    ///
    /// A link such as `/dev/serial/by-id/...` is followed again at each opening, so that a receiver that comes back
    /// under another number is found. A search for the baud rate begins with the one of `found`, and leaves there the
    /// one that it finds.
    package static func serial(
        device: String, baudRate: BaudRate, found: Locked<FoundBaudRate?> = Locked(nil),
        decoder: NMEADecoder = NMEADecoder(), patience: Duration = .seconds(5),
        progress: (any ReceiverProgress)? = nil, tap: (any ReceiverTap)? = nil
    ) -> LiveReceiver {
        let known = found.withLock { $0 }
        let lastGood = known?.device == device ? known?.rate : nil
        let endpoint =
            switch baudRate {
            case .fixed(let baudRate): SerialEndpoint(device: device, baudRate: baudRate)
            case .automatic: SerialEndpoint(device: device, search: BaudRateSearch(lastGood: lastGood), found: found)
            }
        return LiveReceiver(
            endpoint: endpoint, decoder: SentenceDecoder(decoder), patience: patience, progress: progress, tap: tap)
    }
}

/// A serial device by its path, at a rate that is known or looked for: each opening tries one then, as
/// `BaudRateSearch` says.
///
/// A USB device that poses as a serial line takes any rate, so the first one does. Nothing is ever written.
struct SerialEndpoint: ReceiverEndpoint {
    private enum Rate: Sendable {
        case known(Int)
        case searched(Locked<BaudRateSearch>, found: Locked<FoundBaudRate?>)
    }

    private let device: String
    private let rate: Rate

    init(device: String, baudRate: Int) {
        self.device = device
        rate = .known(baudRate)
    }

    init(device: String, search: BaudRateSearch, found: Locked<FoundBaudRate?> = Locked(nil)) {
        self.device = device
        rate = .searched(Locked(search), found: found)
    }

    var name: String { device }

    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        do throws(SerialLineError) {
            return switch rate {
            case .known(let baudRate):
                OpenSerialLine(
                    try SerialLine(path: device, baudRate: baudRate),
                    greeting: "open at \(baudRate) baud, waiting for the first sentence")
            case .searched(let search, let found): try open(search, found)
            }
        } catch { throw .notNow(error.reason) }
    }

    private func open(
        _ search: Locked<BaudRateSearch>, _ found: Locked<FoundBaudRate?>
    ) throws(SerialLineError) -> OpenSerialLine {
        var refusals = 0
        while true {
            let now = search.withLock { $0 }
            do throws(SerialLineError) {
                let line = try SerialLine(path: device, baudRate: now.rate)
                return OpenSerialLine(
                    line, greeting: now.greeting,
                    trial: RateTrial(search) { [device] rate in
                        found.withLock { $0 = FoundBaudRate(device: device, rate: rate) }
                    })
            } catch {
                // A driver that cannot do one rate may do the next.
                guard case .baudRateNotTaken = error, refusals < BaudRateSearch.candidates.count else {
                    search.withLock { $0.lineIsMissing() }
                    throw error
                }
                refusals += 1
                _ = search.withLock { $0.lineClosed(after: .silence) }
            }
        }
    }

    func complaint(about trouble: LineTrouble, for limit: Duration) -> String {
        let span = "\(limit.components.seconds) s"
        return switch (trouble, rate) {
        case (.silence, _):
            "silent for \(span); check power and cable, and that this is the port on which the receiver sends NMEA"
                + otherReaders
        case (.noise, .known(let baudRate)):
            "bytes arrive but no NMEA sentence for \(span); check baudRate, now \(baudRate) (\"automatic\" finds the "
                + "right one), or switch the receiver's output to NMEA" + otherReaders
        case (.text, .known(let baudRate)):
            "readable text arrives, so that baudRate \(baudRate) is right, but no NMEA sentence for \(span); this is "
                + BaudRateSearch.remedyForText + otherReaders
        // Its rate was right: before that it is closed sooner.
        case (.noise, .searched(let search, _)), (.text, .searched(let search, _)):
            "bytes arrive but no NMEA sentence for \(span) at \(search.withLock { $0.rate }) baud, where there were "
                + "some; if it stays so, the rate is searched for again"
        }
    }

    /// `nil` where the system has no inotify descriptor left: then the line is tried from time to time only.
    func watchForReturn() -> DirectoryWatch? { try? DirectoryWatch(for: device) }

    /// Each reader of a serial line takes bytes away from the others.
    private var otherReaders: String {
        let others = HoldingProcess.others(withDevice: device)
        return others.isEmpty ? "" : "; also open in \(HoldingProcess.explanation(of: others, for: device))"
    }
}

/// A serial line as the loop sees it.
private final class OpenSerialLine: ReceiverLine {
    private let line: SerialLine
    let greeting: String
    let trial: RateTrial?

    init(_ line: SerialLine, greeting: String, trial: RateTrial? = nil) {
        self.line = line
        self.greeting = greeting
        self.trial = trial
    }

    var raw: CInt { line.raw }

    func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> LineRead {
        let read = try LineRead { () throws(SystemError) in try line.read(into: &buffer) }
        // A serial line has no end: reading nothing means that the device has gone.
        if read == .end { throw SystemError(call: "read", number: ENODEV) }
        return read
    }
}
