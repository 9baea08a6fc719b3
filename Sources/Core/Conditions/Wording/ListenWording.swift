import ReportedText
package import Reporting

/// The reason why Waypost can't listen on an address of this machine. A `reason` is the system's text.
package enum ListenFault: Sendable, Hashable {
    /// The process that listens on the address, as far as it is known.
    package enum Holder: Sendable, Hashable {
        case process(String, stopCommand: String)
        case user(String)
    }

    case portInUse(UInt16, by: Holder?)
    case socketInUse(String, by: Holder?)
    case refused(PathRefusal)
    case privilegedPort(reason: String)
    case directoryUnusable(String, reason: String)
    case other(reason: String)

    /// Returns the fault, with the address, and the remedy.
    package func wording(on address: String) -> Wording {
        let wording =
            switch self {
            case .portInUse(let port, let holder):
                wording(holder, "ss -ltnp sport = :\(port)", "choose another port (0 selects a free one)")
            case .socketInUse(let path, let holder): wording(holder, "ss -lxp src \(path)", "choose another path")
            case .refused(let refusal): refusal.wording
            case .privilegedPort(let reason): Wording("\(reason)", "choose a port above 1023")
            case .directoryUnusable(let directory, let reason):
                Wording(
                    "\(reason)",
                    "create \(directory) for this user, or choose a path in an existing directory of this user")
            case .other(let reason): Wording("\(reason)", "")
            }
        return Wording("cannot listen on \(address): \(wording.cause)", wording.remedy)
    }

    /// Returns the fault and the remedy. `search` is a command that shows the process.
    private func wording(_ holder: Holder?, _ search: ReportedText, _ choice: ReportedText) -> Wording {
        let remedy: ReportedText = "find it as root (\(search)) and stop it, or \(choice)"
        return switch holder {
        case .process(let name, let command): Wording("\(name) holds it", "stop it (\(command)), or \(choice)")
        case .user(let user): Wording("a process of \(user) holds it", remedy)
        case nil: Wording("another process holds it", remedy)
        }
    }
}
