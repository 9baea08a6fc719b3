package import ReportedText

/// Messages about a proxy through which no connection was made.
extension ProxyFault {
    /// Returns the fault and its remedy. `message` is the transport's message.
    package func wording(_ message: ReportedText = "") -> Wording {
        let check: ReportedText = "check \(key).url, and that the proxy is running"
        return switch cause {
        case .answered(let status): wording(forStatus: status)
        case .nameNotResolved: Wording("the name of the proxy \(origin) could not be resolved", check)
        case .notConnected: Wording("no connection to the proxy \(origin): \(message)", check)
        case .timedOut:
            Wording(
                "timeout: no answer through the proxy \(origin) (\(message))",
                "check \(key).url, and that the proxy is running and can reach \(server)")
        case .untrustedCertificate:
            Wording(
                "the certificate of the proxy \(origin) is not trusted: \(message)",
                "if its certificate authority is your own, set caFile next to \(key); otherwise, correct \(key).url")
        case .tlsFailed:
            Wording(
                "no secure connection to the proxy \(origin): \(message)",
                "if it has no TLS, write http:// in \(key).url")
        case .certificateRequested:
            Wording(
                "the proxy \(origin) requested a client certificate, and then ended the connection",
                "use a proxy that requires no client certificate, or correct \(key).url")
        case .connectionLost: Wording("the proxy \(origin) closed the connection", check)
        case .notAProxy: Wording("the server at \(origin) isn't a proxy: \(message)", "correct \(key).url")
        case .serverNotReached:
            Wording("the proxy \(origin) could not connect to \(server)", "check the proxy's network, and its log")
        case .rejected:
            Wording(
                "the proxy \(origin) rejected the connection: \(message)",
                "check its rules, \(key).user and \(key).password")
        }
    }

    private func wording(forStatus status: Int) -> Wording {
        let said: ReportedText = "the proxy \(origin) answered \(status)"
        return switch status {
        // tinyproxy responds to a missing or wrong login with 401 instead of 407.
        case 401 where !hasLogin, 407 where !hasLogin:
            Wording("\(said): it requires a user and password", "set \(key).user and \(key).password")
        case 401, 407: Wording("\(said): it rejects the user and password", "check \(key).user and \(key).password")
        case 403: Wording("\(said): it doesn't allow \(server)", "allow the server in the proxy's rules")
        case 500, 502, 503, 504:
            Wording("\(said): it could not connect to \(server)", "check the proxy's network, and its log")
        case 400, 404, 405, 501: Wording("\(said): it doesn't support tunnels (CONNECT)", "correct \(key).url")
        case 300..<400, 511:
            Wording(
                "\(said): probably a captive portal, not the proxy", "sign in to the portal, or use another network")
        default: Wording("\(said) for \(server)", "check the proxy's log")
        }
    }
}
