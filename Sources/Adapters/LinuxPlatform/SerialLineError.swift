import Glibc

/// Why a serial line could not be opened.
package enum SerialLineError: Error, Sendable, Hashable, CustomStringConvertible {
    case unsupportedBaudRate(Int)
    /// The driver kept another rate.
    case baudRateNotTaken(path: String, baudRate: Int)
    case missing(path: String)
    case permissionDenied(path: String)
    /// Other programs have it; nobody is named where `/proc` does not tell.
    case busy(path: String, holders: [DeviceHolder])
    case notASerialLine(path: String)
    case system(SystemError)

    package var description: String {
        switch self {
        case .unsupportedBaudRate(let baudRate):
            let rates = SerialLine.supportedBaudRates.map(String.init)
            return "\(baudRate) is not a baud rate of a receiver; "
                + "use \(rates.dropLast().joined(separator: ", ")) or \(rates.last ?? "")"
        case .baudRateNotTaken(let path, let baudRate):
            return "\(path) does not take \(baudRate) baud; choose a rate that its driver supports"
        case .missing(let path):
            return "\(path) is not there; plug the receiver in, or correct the path (ls -l /dev/serial/by-id)"
        case .permissionDenied(let path):
            return "\(path) may not be opened by this user; add it to the group that owns the device "
                + "(usermod -aG dialout USER) and start again"
        case .busy(let path, []):
            return "\(path) is held by another program; stop it, or have it leave the device alone"
        case .busy(let path, let holders):
            return "\(path) is held by \(holders.map(\.description).joined(separator: " and ")); "
                + "stop it, or have it leave the device alone"
        case .notASerialLine(let path):
            return "\(path) is not a serial line; name a device such as /dev/ttyUSB0"
        case .system(let error):
            return "\(error)"
        }
    }

    /// The meaning of a failed `open`.
    init(opening path: String, _ error: SystemError) {
        switch error.number {
        case ENOENT, ENXIO, ENODEV, EIO, ENOTDIR: self = .missing(path: path)
        case EACCES, EPERM: self = .permissionDenied(path: path)
        case EBUSY: self = .busy(path: path, holders: DeviceHolder.all(of: path))
        case EISDIR: self = .notASerialLine(path: path)
        default: self = .system(error)
        }
    }
}
