import Conditions
import FleetEngineDelivery
import GNSS
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import VehicleAuthorization
import WaypostTestSupport

/// The facts that decide whether a condition that is already logged is logged again.
@Suite struct ConditionFacts {
    private static let busy = Condition(.serviceBusy, "503", facts: .answer(status: 503))

    /// Two causes of one code, and whether the second one is logged although the first was logged a moment ago.
    struct Change: Sendable {
        let first: Condition
        let second: Condition
        let isLogged: Bool

        init(_ first: Condition, _ second: Condition, isLogged: Bool) {
            self.first = first
            self.second = second
            self.isLogged = isLogged
        }
    }

    private static func noToken(_ fault: TokenFault) -> Condition {
        Condition(MissingPermit(AuthorizationError(fault)))
    }

    private static func tokenRejected(status: Int, message: ReportedText) -> Condition {
        noToken(.rejected(issuer, EndpointRejection(status: status, message: message)))
    }

    private static func commandExited(status: Int, line: ReportedText) -> Condition {
        noToken(.commandFailed(issuer, .exited(status, CommandFault.Output(lines: [line]))))
    }

    private static func tokenFileUnreadable(_ fault: SourceFault.FileFault) -> Condition {
        noToken(.sourceUnusable(SourceFault("the token", .file("/t"), .unreadable(fault, "so"))))
    }

    private static func receiverProblem(_ fault: ReceiverFault) -> Condition {
        Condition(ReceiverState.waiting(source: "/dev/gnss", fault)) ?? Condition(.receiverUnavailable, "")
    }

    private static func outboxFailure(errorNumber number: Int32, message: ReportedText) -> Condition {
        Condition(OutboxError(.unusable, path: "/o", .system(number: number, message: message)))
    }

    private static func everythingRejected(status: Int, message: ReportedText) -> Condition {
        let answer = ServiceAnswer(status: status, body: .error(message, about: nil), account: "p")
        return Condition(.everythingRejected(.answered(answer)))
    }

    private static func shortLived(_ seconds: Int) -> AuthorizationWarning {
        .shortLivedTokens(van, lifetime: .seconds(seconds), minimumLife: .seconds(300))
    }

    private static let issuer = TokenOrigin(.endpoint, "https://b.example")
    private static let van = AuthorizationContext(vehicleID: "v")

    private static let changes: [Change] = [
        Change(
            Condition(hostClockOffset: .seconds(40), from: .receiver),
            Condition(hostClockOffset: .seconds(40), from: .fleetEngine), isLogged: true),
        Change(
            Condition(hostClockOffset: .seconds(40), from: .receiver),
            Condition(hostClockOffset: .seconds(-40), from: .receiver), isLogged: true),
        Change(
            Condition(hostClockOffset: .seconds(40), from: .receiver),
            Condition(hostClockOffset: .seconds(41), from: .receiver), isLogged: false),
        Change(
            Condition(receiverLag: .seconds(4000)), Condition(receiverLag: .seconds(-4000)), isLogged: true),
        Change(receiverProblem(.deviceMissing), receiverProblem(.notOpened("Permission denied")), isLogged: true),
        Change(
            receiverProblem(.silent(.tcp, .seconds(5), alsoOpenIn: nil)),
            receiverProblem(.silent(.tcp, .seconds(65), alsoOpenIn: nil)), isLogged: false),
        Change(
            tokenRejected(status: 401, message: "unknown key"), tokenRejected(status: 403, message: "unknown key"),
            isLogged: true),
        Change(
            tokenRejected(status: 403, message: "request 1"), tokenRejected(status: 403, message: "request 2"),
            isLogged: false),
        Change(
            commandExited(status: 1, line: "no network"), commandExited(status: 2, line: "no network"), isLogged: true),
        Change(commandExited(status: 1, line: "at 9:00"), commandExited(status: 1, line: "at 9:01"), isLogged: false),
        Change(tokenFileUnreadable(.missing), tokenFileUnreadable(.forbidden), isLogged: true),
        Change(
            Condition(renewalFailedBy: tokenRejected(status: 401, message: ""), remaining: .seconds(60)),
            Condition(renewalFailedBy: tokenRejected(status: 403, message: ""), remaining: .seconds(60)), isLogged: true
        ),
        Change(
            Condition(renewalFailedBy: tokenRejected(status: 401, message: ""), remaining: .seconds(60)),
            Condition(renewalFailedBy: tokenRejected(status: 401, message: ""), remaining: .seconds(30)),
            isLogged: false),
        Change(
            Condition([AuthorizationWarning.rejectedTokenReissued(van)]),
            Condition([AuthorizationWarning.oldTokenReissued(van, minimumLife: .seconds(300))]), isLogged: true),
        Change(Condition([shortLived(200)]), Condition([shortLived(100)]), isLogged: false),
        Change(
            outboxFailure(errorNumber: 13, message: "Permission denied"),
            outboxFailure(errorNumber: 5, message: "Input/output error"), isLogged: true),
        Change(
            outboxFailure(errorNumber: 13, message: "open /o: Permission denied"),
            outboxFailure(errorNumber: 13, message: "read /o: Permission denied"),
            isLogged: false),
        Change(
            everythingRejected(status: 400, message: "a"), everythingRejected(status: 413, message: "a"), isLogged: true
        ),
        Change(
            everythingRejected(status: 400, message: "a"), everythingRejected(status: 400, message: "b"),
            isLogged: false),
        Change(Condition(distantZones: [0]), Condition(distantZones: [0, 1]), isLogged: true),
        Change(Condition(ReceiverWarning.antennaOpen), Condition(ReceiverWarning.antennaShort), isLogged: true),
        Change(
            Condition(privateSwitch: .isDirectory, at: "/p"), Condition(privateSwitch: .directoryMissing, at: "/p"),
            isLogged: true),
        Change(
            Condition(unavailable: .serviceManager, because: SystemError(call: "notify", number: 2)),
            Condition(unavailable: .serviceManager, because: SystemError(call: "notify", number: 11)),
            isLogged: false),
        Change(Condition(thinned: 1), Condition(thinned: 2), isLogged: false),
        Change(
            Condition(unsent: .offline, of: "v", because: busy),
            Condition(unsent: .offline, of: "v", because: tokenRejected(status: 403, message: "")), isLogged: true),
    ]

    /// A changed cause is logged; a changed figure or message isn't.
    @Test(arguments: changes) func logsAChangedCause(change: Change) {
        var conditions = ActiveConditions()
        conditions.raise(change.first, on: .delivery, at: .zero)
        #expect(conditions.takeLines(at: .zero).map(\.text) == change.first.lines)
        conditions.refresh(change.second, on: .delivery, at: .seconds(1))
        #expect(conditions.takeLines(at: .seconds(1)).map(\.text) == (change.isLogged ? change.second.lines : []))
    }
}
