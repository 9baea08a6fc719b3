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
                "add the user to the group that owns the device (usermod -aG dialout USER) and restart"
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
                .silent(.serial(baudRate: 9600, wasFound: false), .seconds(5), alsoOpenIn: nil), "silent for 5 s",
                "check power and cable, and that this is the port on which the receiver sends NMEA; a modem's port may need "
                    + "a start command (AT+CGPS=1, AT+QGPS=1, or mmcli -m any --location-enable-gps-nmea)"
            ),
            (
                .silent(.udp(host: "127.0.0.1"), .seconds(5), alsoOpenIn: nil), "silent for 5 s",
                "check that the sender is on this machine and sends to this port; for a router or another machine, set "
                    + "receiver.host to this machine's address, or to 0.0.0.0"
            ),
            (
                .silent(.udp(host: "192.0.2.1"), .seconds(5), alsoOpenIn: nil), "silent for 5 s",
                "check that the sender uses this address and port"
            ),
            (
                .noSentence(.serial(baudRate: 4800, wasFound: false), .seconds(5), alsoOpenIn: gpsd),
                "bytes arrive, but no NMEA sentence for 5 s; also open in gpsd (process 7)",
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
        #expect(sentence == "line: nothing new for 78 s; check the program that writes the file")
    }
}
