import StrictJSON

/// How the token endpoint words its answer: the three shapes of Google's samples.
package enum TokenAnswerShape: String, Sendable, Hashable, CaseIterable {
    /// The Driver SDK's guide: `VEHICLE_TOKEN_KEY` and `TOKEN_EXPIRATION`, seconds since 1970.
    case guide
    /// The on-demand sample backend: `jwt` and `expirationTimestamp`, milliseconds since 1970.
    case onDemandSample
    /// The scheduled sample backend: `token` and `expiration_timestamp_ms`.
    case scheduledSample

    func answer(token: String, subject: TokenSubject, issuedAt: Int64, expiry: Int64) -> JSONValue {
        switch self {
        case .guide:
            let key =
                switch subject {
                case .consumer, .deliveryConsumer: "TRIP_TOKEN_KEY"
                default: "VEHICLE_TOKEN_KEY"
                }
            return .object([key: .string(token), "TOKEN_EXPIRATION": .integer(expiry)])
        case .onDemandSample:
            return .object([
                "jwt": .string(token), "creationTimestamp": .integer(issuedAt * 1000),
                "expirationTimestamp": .integer(expiry * 1000),
            ])
        case .scheduledSample:
            return .object([
                "token": .string(token), "creation_timestamp_ms": .integer(issuedAt * 1000),
                "expiration_timestamp_ms": .integer(expiry * 1000),
            ])
        }
    }
}
