import StrictJSON

/// How the token endpoint words its answer: the three shapes of Google's samples.
package enum TokenAnswerShape: String, Sendable, Hashable, CaseIterable {
    /// The Driver SDK's guide: `VEHICLE_TOKEN_KEY` and `TOKEN_EXPIRATION`, seconds since 1970.
    case guide
    /// The on-demand sample backend: `jwt` and `expirationTimestamp`, milliseconds since 1970.
    case onDemandSample
    /// The scheduled sample backend: `token` and `expiration_timestamp_ms`.
    case scheduledSample

    /// `style`: how the expiry is meant where it is not as the sample has it.
    func answer(
        token: String, subject: TokenSubject, issuedAt: Int64, expiry: Int64,
        style: TokenFaultPlan.ExpiryStyle? = nil
    ) -> JSONValue {
        var answer: [String: JSONValue] = [tokenKey(for: subject): .string(token)]
        if let creationKey { answer[creationKey] = .integer(issuedAt * 1000) }
        answer[expiryKey] =
            switch style ?? (self == .guide ? .epochSeconds : .epochMilliseconds) {
            case .epochSeconds: .integer(expiry)
            case .epochMilliseconds: .integer(expiry * 1000)
            case .secondsFromNow: .integer(expiry - issuedAt)
            case .text: .string(String(expiry))
            case .none: nil
            }
        return .object(answer)
    }

    private func tokenKey(for subject: TokenSubject) -> String {
        switch (self, subject) {
        case (.guide, .consumer), (.guide, .deliveryConsumer), (.guide, .taskConsumer): "TRIP_TOKEN_KEY"
        case (.guide, _): "VEHICLE_TOKEN_KEY"
        case (.onDemandSample, _): "jwt"
        case (.scheduledSample, _): "token"
        }
    }

    private var expiryKey: String {
        switch self {
        case .guide: "TOKEN_EXPIRATION"
        case .onDemandSample: "expirationTimestamp"
        case .scheduledSample: "expiration_timestamp_ms"
        }
    }

    private var creationKey: String? {
        switch self {
        case .guide: nil
        case .onDemandSample: "creationTimestamp"
        case .scheduledSample: "creation_timestamp_ms"
        }
    }
}
