package import ReportedText

/// Messages about exchanges that ended without a complete answer.
extension TransferFault {
    /// The cause, as a clause that follows the server's address.
    package var cause: ReportedText {
        switch self {
        case .cancelled: "cancelled"
        case .transportClosed: "the transport was closed"
        case .networkChanged: "the network changed while connecting"
        case .nameNotResolved: "its name could not be resolved"
        case .notConnected(let reason): "no connection: \(reason)"
        case .connectionTimedOut(let limit, let message):
            "timeout: no connection within \(Self.seconds(limit)) (\(message))"
        case .answerTimedOut(let limit): "no complete answer within \(Self.seconds(limit))"
        case .untrustedCertificate(let message): "its certificate is not trusted: \(message)"
        case .tlsFailed(let message): "no secure connection: \(message)"
        case .certificateRequested: "the server requested a client certificate, and then ended the connection"
        case .noCommonTLSVersion: "the server supports no TLS version from 1.2 on"
        case .connectionLost(let message):
            "the connection was lost before the answer was complete\(message.map { ": \($0)" } ?? "")"
        case .requestUnread: "the server rejected the request before reading it"
        case .notHTTP(let message): "the answer is not HTTP: \(message)"
        case .endlessAnswer: "the server sent endless data instead of a complete answer; the connection was closed"
        case .headerTooLarge(let limit): "the answer's header is larger than \(limit) bytes"
        case .bodyTooLarge(let limit): "the answer is larger than \(limit) bytes"
        case .unknownEncoding:
            "the answer is compressed (Content-Encoding), which was not requested, and can't be decoded"
        case .unusableClientCertificate(let message):
            "the client certificate or its key cannot be used (both must be PEM files, and the key must have no pass phrase): \(message)"
        case .unreadableAuthorities(let message):
            "the file of certificate authorities cannot be read: install ca-certificates, or specify a file in caFile (\(message))"
        case .unusableHeaderName: "a request header has an unusable name"
        case .unusableHeaderValue(let name):
            "the value for header \(name) contains a line break or a control character"
        case .transportUnavailable: "libcurl could not be initialised"
        case .outOfMemory: "out of memory"
        case .transferRejected: "libcurl rejected the transfer"
        case .settingRejected(let message): "libcurl rejected a setting (\(message))"
        case .other(let message, let number): "\(message) (libcurl code \(number))"
        }
    }

    /// Returns a limit as text, such as `10 s` or `1.5 s`.
    private static func seconds(_ limit: Duration) -> String {
        let seconds = limit.components.seconds
        let milliseconds = limit.components.attoseconds / 1_000_000_000_000_000
        return milliseconds == 0 ? "\(seconds) s" : "\(Double(seconds * 1000 + milliseconds) / 1000) s"
    }
}
