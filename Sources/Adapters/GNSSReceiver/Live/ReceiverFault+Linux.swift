package import LinuxPlatform
import ReportedText
package import Reporting

extension ReceiverFault {
    /// Creates the fault for an open line on which no sentences arrive.
    init(_ trouble: LineTrouble, on kind: ReceiverLineKind, for limit: Duration, alsoOpenIn: DeviceHolders? = nil) {
        switch trouble {
        case .silence: self = .silent(kind, limit, alsoOpenIn: alsoOpenIn)
        case .noise: self = .noSentence(kind, limit, alsoOpenIn: alsoOpenIn)
        case .text(let beginning): self = .readableText(kind, beginning, limit, alsoOpenIn: alsoOpenIn)
        }
    }

    /// Creates the fault for a serial port that can't be opened.
    init(_ error: SerialLineError) {
        switch error {
        case .unsupportedBaudRate(let baudRate):
            self = .unsupportedBaudRate(baudRate, supported: SerialLine.supportedBaudRates)
        case .baudRateRejected(let baudRate): self = .baudRateRejected(baudRate)
        case .missing: self = .deviceMissing
        case .permissionDenied: self = .deviceForbidden
        case .notAllowed(let path): self = .deviceNotAllowed(ReportedText(path))
        case .busy(let path, let holders):
            let hidden = DeviceHolders(names: "another program", programs: [.hidden(ReportedText(path))])
            self = .deviceBusy(DeviceHolders(holders, of: path) ?? hidden)
        case .notASerialPort: self = .notASerialPort
        case .system(let error): self = .notOpened("\(error)")
        }
    }
}

extension DeviceHolders {
    /// Creates a description of the processes that have the device at `path` open; `nil` if there are none.
    package init?(_ processes: [HoldingProcess], of path: String) {
        guard !processes.isEmpty else { return nil }
        self.init(
            names: ReportedText(processes.map(\.description).joined(separator: " and ")),
            programs: processes.map { Program($0, device: path) })
    }
}

extension DeviceHolders.Program {
    init(_ process: HoldingProcess, device: String) {
        self =
            switch process.command {
            case "gpsd": .gpsd
            case "ModemManager": .modemManager
            case "getty", "agetty", "login":
                .loginConsole(ReportedText(FileSystem.lastComponent(of: FileSystem.linkTarget(at: device) ?? device)))
            case "brltty": .brltty
            case "waypost": .waypost(ReportedText(process.stopCommand))
            default: .other
            }
    }
}
