import Conditions
import ReportedText
import Testing

@Suite struct TransferWordings {
    /// Each fault, and a part of its cause that tells it from the others.
    private static let faults: [(TransferFault, String)] = [
        (.cancelled, "cancelled"), (.transportClosed, "closed"), (.networkChanged, "network changed"),
        (.nameNotResolved, "name could not be resolved"), (.notConnected(reason: "port is closed"), "port is closed"),
        (.connectionTimedOut(limit: .seconds(10), message: "no route"), "within 10 s (no route)"),
        (.answerTimedOut(limit: .seconds(60)), "answer within 60 s"),
        (.untrustedCertificate(message: "expired"), "not trusted: expired"),
        (.tlsFailed(message: "no cipher"), "no cipher"),
        (.certificateRequested, "requested a client certificate, and then ended"),
        (.noCommonTLSVersion, "no TLS version from 1.2 on"),
        (.connectionLost(message: "reset"), "lost before the answer was complete: reset"),
        (.connectionLost(message: nil), "lost before the answer was complete"),
        (.requestUnread, "before reading it"), (.notHTTP(message: "garbage"), "not HTTP: garbage"),
        (.endlessAnswer, "endless"), (.headerTooLarge(limit: 65_536), "header is larger than 65536 bytes"),
        (.bodyTooLarge(limit: 1024), "answer is larger than 1024 bytes"), (.unknownEncoding, "Content-Encoding"),
        (.unusableClientCertificate(message: "no key"), "no key"),
        (.unreadableAuthorities(message: "no file"), "(no file)"),
        (.unusableHeaderName, "unusable name"), (.unusableHeaderValue(name: "X-Van"), "X-Van"),
        (.transportUnavailable, "could not be initialised"), (.outOfMemory, "memory"), (.transferRejected, "transfer"),
        (.settingRejected(message: "bad option"), "bad option"), (.other(message: "odd", number: 7), "odd"),
    ]

    @Test func stateTheCauseOfEachFault() {
        for (fault, part) in Self.faults {
            let cause = fault.cause.description
            #expect(cause.contains(part), "\(fault)")
            #expect(!cause.hasSuffix("."), "\(fault)")
        }
        #expect(Set(Self.faults.map(\.0.cause.description)).count == Self.faults.count)
    }
}
