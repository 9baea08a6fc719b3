import Glibc

/// Why a serial line could not be opened.
package enum SerialLineError: Error, Sendable, Hashable, CustomStringConvertible {
    case unsupportedBaudRate(path: String, baudRate: Int)
    /// The driver kept another rate.
    case baudRateNotTaken(path: String, baudRate: Int)
    case missing(path: String)
    case permissionDenied(path: String)
    /// Other programs have it; nobody is named where `/proc` does not tell.
    case busy(path: String, holders: [DeviceHolder])
    case notASerialLine(path: String)
    case system(path: String, SystemError)

    package var description: String { "\(path): \(reason)" }

    /// What is wrong with the line and what to do about it, without its path.
    package var reason: String {
        switch self {
        case .unsupportedBaudRate(_, let baudRate):
            let rates = SerialLine.supportedBaudRates.map(String.init)
            return "\(baudRate) is not a baud rate of a receiver; "
                + "use \(rates.dropLast().joined(separator: ", ")) or \(rates.last ?? "")"
        case .baudRateNotTaken(_, let baudRate):
            return "does not take \(baudRate) baud; choose a rate that its driver supports"
        case .missing:
            return "not there; plug the receiver in, or correct the path (ls -l /dev/serial/by-id)"
        case .permissionDenied:
            return "not for this user to open; add it to the group that owns the device "
                + "(usermod -aG dialout USER) and start again"
        case .busy(let path, let holders):
            return "held by \(DeviceHolder.explanation(of: holders, for: path))"
        case .notASerialLine:
            return "not a serial line; name a device such as /dev/ttyUSB0"
        case .system(_, let error):
            return "\(error)"
        }
    }

    private var path: String {
        switch self {
        case .unsupportedBaudRate(let path, _), .baudRateNotTaken(let path, _), .missing(let path),
            .permissionDenied(let path), .busy(let path, _), .notASerialLine(let path), .system(let path, _):
            path
        }
    }

    /// The meaning of a failed `open`.
    init(opening path: String, _ error: SystemError) {
        switch error.number {
        case ENOENT, ENXIO, ENODEV, EIO, ENOTDIR: self = .missing(path: path)
        case EACCES, EPERM: self = .permissionDenied(path: path)
        case EBUSY: self = .busy(path: path, holders: DeviceHolder.inTheWay(of: path))
        case EISDIR: self = .notASerialLine(path: path)
        default: self = .system(path: path, SystemError(call: "cannot be opened", number: error.number))
        }
    }
}
