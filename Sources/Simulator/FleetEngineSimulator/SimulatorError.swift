package import LinuxPlatform

/// Why a simulator does not start.
package enum SimulatorError: Error, Sendable, CustomStringConvertible {
    case listening(ListenError)
    /// The simulator is reached by URL, so it needs a host and a port.
    case addressWithoutURL(LocalAddress)
    case signing(String)
    case recordFile(path: String, SystemError)

    package var description: String {
        switch self {
        case .listening(let error): "simulator: \(error)"
        case .addressWithoutURL(let address): "simulator: \(address) has no URL; use 127.0.0.1:PORT"
        case .signing(let reason): "simulator: \(reason)"
        case .recordFile(let path, let error): "simulator: cannot write the record to \(path): \(error.reason)"
        }
    }
}
