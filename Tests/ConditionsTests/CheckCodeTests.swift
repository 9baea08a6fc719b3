import Conditions
import GNSS
import ReportedText
import Reporting
import Testing

/// The code of the condition for each finding of `waypost check`.
@Suite struct CheckCodes {
    private static let findings: [(CheckFinding, ConditionCode?)] = [
        (.exposedSecret(key: "a.b", file: "/c"), nil),
        (.deviceMissing("/dev/gnss"), .receiverUnavailable),
        (.notASerialPort("/dev/gnss", kind: "a file"), .receiverUnavailable),
        (.deviceDeniedByUnit("/dev/gnss", unit: "u"), .receiverUnavailable),
        (.deviceDeniedToUser("/dev/gnss", user: "u"), .receiverUnavailable),
        (.logMissing("/log"), .receiverUnavailable), (.logIsDirectory("/log"), .receiverUnavailable),
        (.logIsDevice("/log"), .receiverUnavailable),
        (.hiddenFromUser(key: "receiver.path", path: "/p", user: "u"), .receiverUnavailable),
        (.hiddenFromUser(key: "authorization.command", path: "/p", user: "u"), .tokenSourceFailed),
        (.hiddenFromCaller(key: "receiver.path", path: "/p", user: "u"), nil),
        (.economyDurability(updates: 30, span: .seconds(60)), nil),
        (.stateWithoutEffect(key: "vehicle.stateOnStop"), nil), (.statusPortUnknown, nil),
    ]
    private static let privateSwitch: [(CheckFinding.PrivateSwitch, ConditionCode?)] = [
        (.hiddenFromUser("u"), .privateModeMisconfigured), (.isDirectory, .privateModeMisconfigured),
        (.directoryMissing, .privateModeMisconfigured), (.isOn, .privateMode), (.inRuntimeDirectory, nil),
        (.inMemory, nil), (.inTemporaryDirectory, nil),
    ]
    private static let outbox: [(CheckFinding.OutboxFinding, ConditionCode?)] = [
        (.invalidAncestor(path: "/d/o", ancestor: "/d"), .outboxUnusable),
        (.readOnly(path: "/d/o", directory: "/d"), .outboxUnusable),
        (.deniedByUnit(path: "/d/o", directory: "/d", unit: "u"), .outboxUnusable),
        (.notWritable(directory: "/d", user: "u", reason: "no"), .outboxUnusable),
        (.tooFewInodes(directory: "/d", available: 2, needed: 8), .diskFull),
        (.tooLittleSpace(directory: "/d", freeBytes: 1, neededBytes: 2), .diskFull),
        (.ownedByAnotherUser(path: "/d/o", user: "u"), nil), (.notMounted(path: "/d/o", mountPoint: "/d"), nil),
        (.inMemory(path: "/d/o"), nil), (.inTemporaryDirectory(path: "/tmp/o"), nil), (.directoryMissing("/d"), nil),
    ]

    @Test(
        arguments: findings + privateSwitch.map { (.privateSwitch($0, path: "/p"), $1) }
            + outbox.map { (.outbox($0), $1) })
    func belongToTheFindings(finding: CheckFinding, code: ConditionCode?) { #expect(finding.code == code) }

    private static let receiving = ReceiverState.receiving(source: "/dev/gnss")

    @Test(
        arguments: [
            (.otherConfiguration(.otherFile("/other", checked: "/c"), service: "s"), nil),
            (.otherConfiguration(.fileChanged("/c", loadedAt: "10:00"), service: "s"), nil),
            (.otherConfiguration(.rejectedReload(["it is wrong"], loadedAt: "10:00"), service: "s"), .reloadRejected),
            (.otherVehicle("v", .rejectedReload([], loadedAt: "10:00"), service: "s"), .reloadRejected),
            (.otherVehicle("v", nil, service: "s"), nil), (.outboxForbidden(path: "/o", user: "u"), nil),
            (.otherReaders(device: "/dev/gnss", DeviceHolders(names: "p", programs: [.other])), nil),
            (.noAnswer(within: .seconds(30)), .receiverUnavailable),
            (
                .noFix(.waiting(source: "/dev/gnss", .deviceMissing), cause: nil, within: .seconds(30)),
                .receiverUnavailable
            ),
            (
                .noFix(.starting(source: "/dev/gnss", .opened), cause: nil, within: .seconds(30)),
                .receiverUnavailable
            ),
            (.noFix(receiving, cause: nil, within: .seconds(30)), .noPosition),
            (.noFix(receiving, cause: .nullIsland, within: .seconds(30)), .zeroPosition),
            (.staleFix(state: "s", .receiving, age: 40), .noPosition),
            (.staleFix(state: "s", .noPosition, age: nil), .noPosition),
            (.staleFix(state: "s", .starting, age: nil), .receiverUnavailable),
            (.staleFix(state: "s", .waiting, age: nil), .receiverUnavailable),
            (.staleFix(state: "s", .ended, age: 40), .logEnded), (.staleFix(state: "s", nil, age: 40), nil),
            (.wrongFixTime(fix: "f", behind: .seconds(8000), .ownSynchronized), .receiverTimeWrong),
            (.wrongFixTime(fix: "f", behind: .seconds(8000), .fleetEngine), .receiverTimeWrong),
            (.wrongFixTime(fix: "f", behind: .seconds(8000), .ownUnsynchronized), .hostClockWrong),
            (.vehicleRejected("400"), .everythingRejected), (.tripUnknown("404"), nil),
        ] as [(OnlineFinding, ConditionCode?)])
    func belongToTheOnlineFindings(finding: OnlineFinding, code: ConditionCode?) { #expect(finding.code == code) }

    @Test(
        arguments: [
            ("receiver.device", .receiverUnavailable), ("outbox.path", .outboxUnusable),
            ("status.listen", .statusAddressUnavailable), ("upload.caFile", .certificateUntrusted),
            ("authorization.caFile", .tokenEndpointTLS), ("authorization.clientCertificateFile", .tokenEndpointTLS),
            ("authorization.clientKeyFile", .tokenEndpointTLS), ("authorization.path", .tokenSourceFailed),
            ("authorization.headers.X-Key", .tokenSourceFailed), ("vehicle.privateModeFile", nil),
            ("consumerAuthorization.path", nil), ("consumerAuthorization.caFile", nil),
        ] as [(String, ConditionCode?)])
    func belongToUnusableFiles(key: String, code: ConditionCode?) {
        #expect(ConditionCode(unusableFile: key) == code)
        #expect(CheckFinding.hiddenByUnit(key: key, path: "/p", directory: "/", unit: "u").code == code)
    }
}
