import Conditions
import ReportedText
import Reporting
import Testing

@Suite struct ReceiverWordings {
    private static let gpsd = DeviceHolders(
        names: "gpsd (process 7)", programs: [.gpsd, .gpsd])

    private static let gpsdRemedy =
        "read from gpsd instead (receiver.type gpsd), or stop gpsd (systemctl disable --now gpsd.socket gpsd)"

    @Test(
        arguments: [
            (.gpsd, gpsdRemedy), (.brltty, "disable brltty (systemctl mask --now brltty-udev), or uninstall it"),
            (.modemManager, "exclude the device with udev (ID_MM_DEVICE_IGNORE, see 99-waypost-gnss.rules)"),
            (.loginConsole("ttyS0"), "stop the login console (systemctl disable --now serial-getty@ttyS0)"),
            (.waypost("kill 7"), "a receiver has one reader: stop the other Waypost (kill 7)"),
            (.other, "stop the program, or have it leave the device alone"),
            (
                .hidden("/dev/ttyS0"),
                "run fuser -v /dev/ttyS0 as root to find the program, and stop it; ModemManager, gpsd and login consoles "
                    + "open such devices"
            ),
        ] as [(DeviceHolders.Program, String)])
    func haveARemedyForEachHolder(program: DeviceHolders.Program, remedy: String) {
        let holders = DeviceHolders(names: "so", programs: [program, program])
        #expect(ReceiverFault.deviceBusy(holders).wording().remedy.description == remedy)
    }

    @Test(
        arguments: [
            (.deviceMissing, "no such device", "plug the receiver in, or correct the path (ls -l /dev/serial/by-id)"),
            (
                .deviceForbidden, "this user can't open it",
                "add the user to the device's group (ls -l; usermod -aG GROUP USER) and restart; if the group is root, "
                    + "change it to dialout with a udev rule (99-waypost-gnss.rules among the examples)"
            ),
            (
                .deviceNotAllowed("/dev/ttyQ0"), "the service's unit or container doesn't allow the device",
                "run systemctl edit waypost and add DeviceAllow=/dev/ttyQ0 rw under [Service], or pass the device to "
                    + "the container"
            ),
            (
                .baudRateRejected(460_800), "the driver does not support 460800 baud",
                "choose a supported rate"
            ),
            (.notASerialPort, "not a serial port", "use a device such as /dev/ttyUSB0"),
            (
                .notOpened("cannot be flushed: Input/output error"), "cannot be flushed: Input/output error",
                "check the device and the kernel's log (dmesg)"
            ),
            (.deviceBusy(gpsd), "held by gpsd (process 7)", gpsdRemedy),
            (
                .unsupportedBaudRate(12, supported: [4800, 9600, 19_200]), "baud rate 12 is not supported",
                "use 4800, 9600 or 19200"
            ),
            (
                .notConnected("Connection refused", isGPSD: true), "cannot connect: Connection refused",
                "check that gpsd runs (systemctl status gpsd)"
            ),
            (
                .lost("hung up"), "lost (hung up)",
                "check the plug and cable; Waypost reconnects as soon as the receiver is back"
            ),
            (
                .silent(.serial(baudRate: 9600, wasFound: false), .seconds(5), alsoOpenIn: nil),
                "silent for at least 5 s",
                "check power and cable, and that this is the port on which the receiver sends NMEA; a modem's port may need "
                    + "a start command (AT+CGPS=1, AT+QGPS=1, or mmcli -m any --location-enable-gps-nmea)"
            ),
            (
                .silent(.udp(host: "127.0.0.1"), .seconds(5), alsoOpenIn: nil), "silent for at least 5 s",
                "check that the sender is on this machine and sends to this port; for a router or another machine, set "
                    + "receiver.host to this machine's address, or to 0.0.0.0"
            ),
            (
                .silent(.udp(host: "192.0.2.1"), .seconds(5), alsoOpenIn: nil), "silent for at least 5 s",
                "check that the sender uses this address and port"
            ),
            (
                .noSentence(.serial(baudRate: 4800, wasFound: false), .seconds(5), alsoOpenIn: gpsd),
                "bytes arrive, but no NMEA sentence for at least 5 s; also open in gpsd (process 7)",
                gpsdRemedy
            ),
            (
                .readableText(.tcp, "login:", .seconds(5), alsoOpenIn: nil),
                "the incoming text isn't NMEA (it begins with \"login:\")",
                "check that host and port are the receiver's"
            ),
            (
                .noBaudRate(.noise, baudRate: 9600, tried: [9600, 4800]),
                "bytes arrive, but no NMEA sentence at 9600 or 4800 baud (still searching)",
                "switch the receiver's output to NMEA, or set baudRate if it sends at another rate"
            ),
            (.otherSpeaker(.gpsd), "gpsd answers, with its JSON reports", "set receiver.type to gpsd"),
            (
                .gpsd(.unknownDevice("/dev/a", others: ["/dev/b"])), "has /dev/b, but not /dev/a",
                "correct receiver.device, or add the device to gpsd (gpsdctl add /dev/a)"
            ),
        ] as [(ReceiverFault, String, String)])
    func nameCauseAndRemedy(fault: ReceiverFault, cause: String, remedy: String) {
        #expect(fault.wording().cause.description == cause)
        #expect(fault.wording().remedy.description == remedy)
        #expect("\(ReceiverState.waiting(source: "line", fault))" == "line: \(cause); \(remedy)")
    }

    /// A receiver is reported as silent only once, but the duration of its silence is up to date whenever it is shown.
    @Test func countTheTimeThatAReceiverIsSilent() {
        let state = ReceiverState.waiting(source: "line", .silent(.file, .seconds(5), alsoOpenIn: nil))
        let sentence = state.sentence(after: .seconds(73))
        #expect(sentence == "line: nothing new for at least 78 s; check the program that writes the file")
    }

    private static let lines: [ReceiverLineKind] = [
        .serial(baudRate: 9600, wasFound: false), .serial(baudRate: 9600, wasFound: true), .tcp,
        .udp(host: "127.0.0.1"), .udp(host: "0.0.0.0"), .gpsd, .file, .standardInput,
    ]
    private static let evidence: [BaudRateEvidence] = [
        .silence, .noise, .text, .binaryFrames, .withoutChecksum, .sentences,
    ]
    private static let faults: [ReceiverFault] =
        [
            .deviceMissing, .deviceForbidden, .deviceNotAllowed("/dev/gnss0"), .deviceBusy(gpsd), .notASerialPort,
            .unsupportedBaudRate(1234, supported: [4800, 9600]), .baudRateRejected(9600),
            .notOpened("input/output error"),
            .hostNotFound("van", "unknown"), .hostNotFound("van", nil), .notConnected("refused", isGPSD: false),
            .notConnected("refused", isGPSD: true), .notListening("in use"), .fileMissing, .lost("unplugged"),
            .closedByOtherSide, .noChecksums, .binaryFrames, .wrongChecksums,
            .positionsRejected("longitude", areAll: true),
            .positionsRejected("longitude", areAll: false), .noPositionSentences(.otherSentences),
            .noPositionSentences(.wrongChecksums), .noPositionSentences(.otherShips), .noDate,
            .gpsd(.requestRejected("no")), .gpsd(.deviceLost("/dev/a")),
            .gpsd(.unknownDevice("/dev/a", others: ["/dev/b"])),
            .gpsd(.unknownDevice("/dev/a", others: [])), .gpsd(.noDevice), .gpsd(.deviceNotOpened(["/dev/a"])),
        ] + OtherSpeaker.allCases.map { .otherSpeaker($0) }
        + evidence.map { .noBaudRate($0, baudRate: 9600, tried: [4800, 9600]) }
        + lines.flatMap { line -> [ReceiverFault] in
            [
                .silent(line, .seconds(5), alsoOpenIn: nil), .silent(line, .seconds(5), alsoOpenIn: gpsd),
                .noSentence(line, .seconds(5), alsoOpenIn: nil),
                .readableText(line, "login:", .seconds(5), alsoOpenIn: nil),
                .readableText(line, nil, .seconds(5), alsoOpenIn: nil),
            ]
        }

    /// Each fault becomes a condition with the receiver's name, one cause and one remedy.
    @Test(arguments: faults) func nameTheReceiverTheCauseAndTheRemedy(fault: ReceiverFault) throws {
        let wording = fault.wording()
        #expect(!wording.cause.description.isEmpty && !wording.cause.description.hasSuffix("."))
        #expect(!wording.remedy.description.isEmpty)
        let state = ReceiverState.waiting(source: "/dev/gnss0", fault)
        #expect(state.description == "/dev/gnss0: \(wording.sentence)")
        let condition = try #require(Condition(state))
        #expect(condition.code == .receiverUnavailable)
        #expect(condition.cause.description == "/dev/gnss0: \(wording.cause)")
        #expect(condition.facts == .receiver(fault.topic))
    }

    /// The duration of a silence grows while it lasts.
    @Test(arguments: lines) func stateTheDurationOfASilence(line: ReceiverLineKind) {
        let fault = ReceiverFault.silent(line, .seconds(5), alsoOpenIn: nil)
        #expect(fault.wording().cause.description.contains("5 s"))
        #expect(fault.wording(after: .seconds(73)).cause.description.contains("78 s"))
    }

    @Test(
        arguments: [
            (.starting(source: "a", .opened), "a: open, waiting for the first sentence"),
            (.starting(source: "a", .openedAt(baudRate: 9600)), "a: open at 9600 baud, waiting for the first sentence"),
            (.starting(source: "a", .searching(baudRate: 9600, tried: [])), "a: looking for the baud rate, now 9600"),
            (.starting(source: "a", .connected), "a: connected, waiting for the first sentence"),
            (.starting(source: "a", .listening(port: 4)), "a: listening on port 4, waiting for the first sentence"),
            (.starting(source: "a", .following), "a: open, waiting for new lines"),
            (.receiving(source: "a"), "a: receiving"),
            (.noPosition(source: "a", hadOne: false), "a: receiving, no position yet"),
            (.noPosition(source: "a", hadOne: true), "a: receiving, position lost"),
            (.ended(source: "a"), "a: end of log"),
        ] as [(ReceiverState, String)])
    func describeEachState(state: ReceiverState, text: String) { #expect(state.description == text) }

    /// A fault keeps its condition active until the receiver works again.
    @Test func areActiveWhileTheFaultLasts() {
        var conditions = ActiveConditions()
        conditions.start(at: .zero)
        let fault = ReceiverFault.silent(.tcp, .seconds(5), alsoOpenIn: nil)
        conditions.record(.receiver(.waiting(source: "a", fault)), at: .seconds(5), isLive: true)
        #expect(conditions.active(on: .receiver)?.code == .receiverUnavailable)
        #expect(conditions.active(on: .timeWithoutFix)?.since == .zero)
        conditions.record(.receiver(.receiving(source: "a")), at: .seconds(9), isLive: true)
        #expect(conditions.active(on: .receiver) == nil)
    }
}
