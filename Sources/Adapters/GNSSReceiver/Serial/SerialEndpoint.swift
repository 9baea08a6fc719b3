import Glibc
package import GNSS
package import LinuxPlatform
import ReportedText
import Reporting

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
                    start: .openedAt(baudRate: baudRate))
            case .searched(let search, let found): try open(search, found)
            }
        } catch { throw .notNow(ReceiverFault(error)) }
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
                    line, start: now.start,
                    trial: RateTrial(search) { [device] rate in
                        found.withLock { $0 = FoundBaudRate(device: device, rate: rate) }
                    })
            } catch {
                // A driver that cannot do one rate may do the next.
                guard case .baudRateRejected = error, refusals < BaudRateSearch.candidates.count else {
                    search.withLock { $0.lineIsMissing() }
                    throw error
                }
                refusals += 1
                _ = search.withLock { $0.lineClosed(after: .silence) }
            }
        }
    }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault {
        let kind: ReceiverLineKind =
            switch rate {
            case .known(let baudRate): .serial(baudRate: baudRate, wasFound: false)
            case .searched(let search, _): .serial(baudRate: search.withLock { $0.rate }, wasFound: true)
            }
        // Each reader of a serial port takes bytes away from the others.
        let others = DeviceHolders(HoldingProcess.others(withDevice: device), of: device)
        return ReceiverFault(trouble, on: kind, for: limit, alsoOpenIn: others)
    }

    /// `nil` where the system has no inotify descriptor left: then the line is tried from time to time only.
    func watchForReturn() -> DirectoryWatch? { try? DirectoryWatch(for: device) }

}

/// A serial line as the loop sees it.
private final class OpenSerialLine: ReceiverLine {
    private let line: SerialLine
    let start: ReceiverStart
    let trial: RateTrial?

    init(_ line: SerialLine, start: ReceiverStart, trial: RateTrial? = nil) {
        self.line = line
        self.start = start
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
