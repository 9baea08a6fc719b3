/// Why nothing listens on an address.
package enum ListenError: Error, Sendable, Hashable, CustomStringConvertible {
    case inUse(LocalAddress)
    case system(LocalAddress, SystemError)

    package var description: String {
        switch self {
        case .inUse(let address): "cannot listen on \(address): another process holds it; \(remedy(address))"
        case .system(let address, let error): "cannot listen on \(address): \(error.reason)"
        }
    }

    /// Whether the path is not to be used at all, whoever listens.
    package var isRefusal: Bool { if case .system(_, let error) = self { error.refusal != nil } else { false } }

    private func remedy(_ address: LocalAddress) -> String {
        guard case .loopback(_, let port) = address else { return "stop it, or choose another path" }
        let holder = listeningProcess(port: port).map { " (\($0))" } ?? ""
        return "stop it\(holder), or choose another port (0 takes a free one)"
    }
}
