import Glibc
package import GNSS
package import LinuxPlatform
import ReportedText
import Reporting

extension LiveReceiver {
    /// Creates a source of fixes from a receiver on a serial port, or on a USB device that acts as one.
    ///
    /// A symbolic link such as `/dev/serial/by-id/...` is resolved at each opening, so that a receiver is found even if
    /// its device number has changed. A search for the baud rate begins with the rate in `found` and stores its result
    /// there.
    package static func serial(
        device: String, baudRate: BaudRate, found: Locked<FoundBaudRate?> = Locked(nil),
        decoder: NMEADecoder = NMEADecoder(), timeout: Duration = .seconds(5),
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
            endpoint: endpoint, decoder: SentenceDecoder(decoder), timeout: timeout, progress: progress, tap: tap)
    }
}

/// A serial device, identified by its path. Its baud rate is either known or searched for, in which case each opening
/// tries one rate (`BaudRateSearch`).
///
/// A USB device that acts as a serial port works at any rate, so a search ends with the first rate. Nothing is ever
/// written to the device.
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

    func open(stoppingOn stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        do throws(SerialLineError) {
            return switch rate {
            case .known(let baudRate):
                OpenSerialLine(
                    try SerialLine(path: device, baudRate: baudRate),
                    start: .openedAt(baudRate: baudRate))
            case .searched(let search, let found): try openNextRate(of: search, storingRateIn: found)
            }
        } catch { throw .failed(ReceiverFault(error)) }
    }

    private func openNextRate(
        of search: Locked<BaudRateSearch>, storingRateIn found: Locked<FoundBaudRate?>
    ) throws(SerialLineError) -> OpenSerialLine {
        var rejections = 0
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
                // The driver rejects this rate, but may support the next one.
                guard case .baudRateRejected = error, rejections < BaudRateSearch.candidates.count else {
                    search.withLock { $0.startOver() }
                    throw error
                }
                rejections += 1
                _ = search.withLock { $0.recordClosing(after: .silence) }
            }
        }
    }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault {
        let kind: ReceiverLineKind =
            switch rate {
            case .known(let baudRate): .serial(baudRate: baudRate, wasFound: false)
            case .searched(let search, _): .serial(baudRate: search.withLock { $0.rate }, wasFound: true)
            }
        // Other processes that read the same serial port take bytes away from this one.
        let others = DeviceHolders(HoldingProcess.others(withDevice: device), of: device)
        return ReceiverFault(trouble, on: kind, for: limit, alsoOpenIn: others)
    }

    /// Returns `nil` if the system has no inotify descriptor left. Opening is then tried again only at the scheduled
    /// times.
    func makeDeviceWatch() -> DirectoryWatch? { try? DirectoryWatch(for: device) }
}

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
        // A serial port has no end: an empty read means that the device was removed.
        if read == .end { throw SystemError(call: "read", number: ENODEV) }
        return read
    }
}
