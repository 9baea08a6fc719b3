package import ReportedText
package import Reporting

/// Messages about a receiver's state, which is described only in this file.
extension ReceiverState: CustomStringConvertible {
    package var description: String { sentence().description }

    /// Returns a description of the state with the receiver's name. `elapsed` is the time since the state was reported,
    /// which is added to the duration of a silence.
    package func sentence(after elapsed: Duration = .zero) -> ReportedText {
        let wording = wording(after: elapsed)
        return "\(source): \(wording.sentence)"
    }

    /// Returns a description of the state and the remedy, without the receiver's name.
    package func wording(after elapsed: Duration = .zero) -> Wording {
        switch self {
        case .starting(_, let start): Wording(start.words, "")
        case .receiving(_, nil): Wording("receiving", "")
        case .receiving(_, let baudRate?):
            Wording(
                """
                receiving at \(baudRate) baud (found; "baudRate": \(baudRate) in the configuration saves the search)
                """, "")
        case .noPosition(_, hadOne: false):
            Wording("receiving, no position yet", "")
        case .noPosition(_, hadOne: true):
            Wording("receiving, position lost", "")
        case .waiting(_, let fault): fault.wording(after: elapsed)
        case .ended: Wording("end of log", "")
        }
    }
}

extension ReceiverStart {
    fileprivate var words: ReportedText {
        switch self {
        case .opened: "open, waiting for the first sentence"
        case .openedAt(let baudRate): "open at \(baudRate) baud, waiting for the first sentence"
        case .searching(let baudRate, []): "looking for the baud rate, now \(baudRate)"
        case .searching(let baudRate, let tried):
            "looking for the baud rate, now \(baudRate) (no NMEA at \(tried.listed(with: "and")))"
        case .connected: "connected, waiting for the first sentence"
        case .listening(let port): "listening on port \(port), waiting for the first sentence"
        case .following: "open, waiting for new lines"
        }
    }
}

extension ReceiverFault {
    /// Returns the cause and the remedy. `elapsed` is the time since the fault was reported, which is added to the
    /// duration of a silence.
    package func wording(after elapsed: Duration = .zero) -> Wording {
        switch self {
        case .deviceMissing:
            Wording("no such device", "plug the receiver in, or correct the path (ls -l /dev/serial/by-id)")
        case .deviceForbidden:
            Wording(
                "this user can't open it",
                """
                add the user to the device's group (ls -l; usermod -aG GROUP USER) and restart; if the group is root, \
                change it to dialout with a udev rule (99-waypost-gnss.rules among the examples)
                """)
        case .deviceNotAllowed(let path):
            Wording(
                "the service's unit or container doesn't allow the device",
                """
                run systemctl edit waypost and add DeviceAllow=\(path) rw under [Service], or pass the device to the \
                container
                """)
        case .deviceBusy(let holders): Wording("held by \(holders.names)", holders.remedy)
        case .notASerialPort: Wording("not a serial port", "use a device such as /dev/ttyUSB0")
        case .unsupportedBaudRate(let baudRate, let supported):
            Wording("baud rate \(baudRate) is not supported", "use \(supported.listed(with: "or"))")
        case .baudRateRejected(let baudRate):
            Wording("the driver does not support \(baudRate) baud", "choose a supported rate")
        case .notOpened(let reason): Wording(reason, "check the device and the kernel's log (dmesg)")
        case .hostNotFound(let host, let message?):
            Wording("\(host) cannot be found (\(message))", "check the name and the network")
        case .hostNotFound(let host, nil):
            Wording("\(host) cannot be found (no answer from the name service)", "check the network")
        case .notConnected(let reason, isGPSD: false):
            Wording("cannot connect: \(reason)", "check host and port, and that the server runs")
        case .notConnected(let reason, isGPSD: true):
            Wording("cannot connect: \(reason)", "check that gpsd runs (systemctl status gpsd)")
        case .notListening(let reason):
            Wording(
                "cannot listen: \(reason)", "check that the address belongs to this machine and that the port is free")
        case .fileMissing:
            Wording("does not exist", "check the program that writes the file; Waypost reads it as soon as it exists")
        case .fileUnusable(let fault): fault.wording(for: "it")
        case .lost(let reason):
            Wording("lost (\(reason))", "check the plug and cable; Waypost reconnects as soon as the receiver is back")
        case .closedByOtherSide:
            Wording("closed by the other side, and opened again", "check that host and port are the receiver's")
        case .silent(let kind, let limit, let others):
            kind.silenceWording(for: limit + elapsed).adding(otherReaders: others)
        case .noSentence(let kind, let limit, let others):
            kind.noSentenceWording(for: limit + elapsed).adding(otherReaders: others)
        case .readableText(let kind, let beginning, let limit, let others):
            kind.readableTextWording(beginning: beginning, for: limit + elapsed).adding(otherReaders: others)
        case .noBaudRate(let evidence, let baudRate, let tried): evidence.wording(at: baudRate, tried: tried)
        case .noChecksums:
            Wording("sentences arrive, but without checksums", BaudRateEvidence.acceptMissingChecksum)
        case .binaryFrames:
            Wording(
                "binary frames (UBX or RTCM) arrive, but no NMEA sentence", "switch the receiver's output to NMEA")
        case .wrongChecksums:
            Wording("sentences arrive, but every checksum is wrong", Self.checkLine)
        case .otherSpeaker(let speaker): speaker.wording
        case .positionsRejected(let field, let areAll):
            Wording(
                "\(areAll ? "all" : "most") sentences with a position are rejected: \(field)",
                "record a minute of the receiver's output and run waypost fixes --explain")
        case .noPositionSentences(let input): input.wording
        case .noDate:
            Wording(
                "positions arrive without a date, and this machine's clock is not synchronised",
                "have the receiver send RMC or ZDA, or synchronise the clock (NTP)")
        case .gpsd(let fault): fault.wording
        }
    }

    static let checkLine: ReportedText = "check the cable, and any program that alters the sentences"
}

extension ReceiverFault.NoPosition {
    fileprivate var wording: Wording {
        switch self {
        case .otherSentences:
            Wording("sentences arrive, but none contains a position", "turn on RMC and GGA in the receiver")
        case .wrongChecksums:
            Wording(
                "sentences arrive, but many have a wrong checksum and none contains a position",
                ReceiverFault.checkLine)
        case .otherShips:
            Wording(
                "AIS messages of other ships arrive, but no position of this vehicle",
                "use the port of a GNSS receiver")
        }
    }
}

extension Wording {
    /// Returns this wording with the names of the other programs that also read the serial port, if any. Each reader
    /// takes bytes from the others, so the remedy is to stop the other programs.
    fileprivate func adding(otherReaders others: DeviceHolders?) -> Wording {
        guard let others else { return self }
        return Wording("\(cause); also open in \(others.names)", others.remedy)
    }
}

extension ReceiverLineKind {
    fileprivate func silenceWording(for time: Duration) -> Wording {
        let silent: ReportedText = "silent for at least \(time.components.seconds) s"
        return switch self {
        case .serial: Wording(silent, BaudRateEvidence.silentPort)
        case .tcp:
            Wording(
                silent,
                "check that the server has data, and that it sends NMEA without being asked (a web server waits for requests)"
            )
        case .udp(let host) where host == "127.0.0.1" || host == "::1" || host == "localhost":
            Wording(
                silent,
                """
                check that the sender is on this machine and sends to this port; for a router or another machine, set \
                receiver.host to this machine's address, or to 0.0.0.0
                """)
        case .udp: Wording(silent, "check that the sender uses this address and port")
        case .gpsd:
            Wording(
                "no report for at least \(time.components.seconds) s",
                """
                check that gpsd's receiver is plugged in and works (gpsmon), and that gpsd itself answers \
                (gpspipe -w)
                """)
        case .file:
            Wording("nothing new for at least \(time.components.seconds) s", "check the program that writes the file")
        case .standardInput: Wording(silent, "check the program that writes to standard input")
        }
    }

    fileprivate func noSentenceWording(for time: Duration) -> Wording {
        let noise: ReportedText = "bytes arrive, but no NMEA sentence for at least \(time.components.seconds) s"
        return switch self {
        case .serial(let baudRate, wasFound: false):
            Wording(
                noise,
                """
                check baudRate, now \(baudRate) ("automatic" finds the right one), or switch the receiver's output to NMEA
                """)
        // Sentences have arrived at this rate before. Otherwise the port would have been closed sooner.
        case .serial(let baudRate, wasFound: true):
            Wording(
                "\(noise) at \(baudRate) baud, although there were some before",
                "check the receiver's output; Waypost searches for the rate again")
        case .tcp: Wording(noise, "check the server's output")
        case .udp: Wording(noise, "check the sender's output")
        case .gpsd: silenceWording(for: time)
        case .file: Wording(noise, "check the output of the program that writes the file")
        case .standardInput: Wording(noise, "check the output of the program that writes to standard input")
        }
    }

    fileprivate func readableTextWording(beginning: ReportedText?, for time: Duration) -> Wording {
        switch self {
        case .serial(let baudRate, wasFound: false):
            Wording(
                """
                readable text arrives, so baudRate \(baudRate) is right, but no NMEA sentence \
                for at least \(time.components.seconds) s
                """, BaudRateEvidence.otherPort)
        case .tcp:
            Wording(
                "the incoming text isn't NMEA\(beginning.map { " (it begins with \"\($0)\")" } ?? "")",
                "check that host and port are the receiver's")
        case .serial, .udp, .gpsd, .file, .standardInput: noSentenceWording(for: time)
        }
    }
}

extension BaudRateEvidence {
    fileprivate static let silentPort: ReportedText = """
        check power and cable, and that this is the port on which the receiver sends NMEA; a modem's port may need a \
        start command (AT+CGPS=1, AT+QGPS=1, or mmcli -m any --location-enable-gps-nmea)
        """
    fileprivate static let otherPort: ReportedText = """
        the port may belong to a modem or a console, or the receiver may not be set to NMEA: set receiver.device to \
        the receiver's port, or switch the receiver's output to NMEA
        """
    fileprivate static let acceptMissingChecksum: ReportedText =
        "set receiver.acceptMissingChecksum to true if the receiver sends none"

    /// Returns the result of the search for the baud rate, with the remedy.
    fileprivate func wording(at baudRate: Int, tried: [Int]) -> Wording {
        switch self {
        case .silence: Wording("silent at every usual baud rate (still searching)", Self.silentPort)
        case .noise, .sentences:
            Wording(
                "bytes arrive, but no NMEA sentence at \(tried.listed(with: "or")) baud (still searching)",
                "switch the receiver's output to NMEA, or set baudRate if it sends at another rate")
        case .text:
            Wording("readable text arrives at \(baudRate) baud, but no NMEA sentence (still searching)", Self.otherPort)
        case .binaryFrames:
            Wording(
                "binary frames (UBX or RTCM) arrive at \(baudRate) baud, but no NMEA sentence (still searching)",
                "switch the receiver's output to NMEA")
        case .withoutChecksum:
            Wording(
                "sentences arrive at \(baudRate) baud, but without checksums (still searching)",
                Self.acceptMissingChecksum)
        }
    }
}

extension OtherSpeaker {
    fileprivate var wording: Wording {
        switch self {
        case .gpsd: Wording("gpsd answers, with its JSON reports", "set receiver.type to gpsd")
        case .webServer: Wording("a web server answers, not a receiver", "check host and port")
        case .secureShell: Wording("an SSH server answers, not a receiver", "check host and port")
        case .caster:
            Wording(
                "the server is an NTRIP caster, which sends corrections but no positions",
                "use a server that sends NMEA")
        case .nmeaServer: Wording("NMEA sentences arrive, not gpsd's reports", "set receiver.type to tcp")
        }
    }
}

extension GPSDFault {
    fileprivate var wording: Wording {
        switch self {
        case .requestRejected(let message): Wording("rejects the request: \(message)", "check its version (gpsd -V)")
        case .deviceLost(let device):
            Wording("has lost \(device)", "plug the device in, or add it again (gpsdctl add)")
        case .unknownDevice(let device, []):
            Wording(
                "has neither \(device) nor any other receiver",
                "plug the receiver in, or add it to gpsd (gpsdctl add \(device))")
        case .unknownDevice(let device, let others):
            Wording(
                "has \(others.map(\.description).joined(separator: " and ")), but not \(device)",
                "correct receiver.device, or add the device to gpsd (gpsdctl add \(device))")
        case .noDevice:
            Wording("has no receiver", "plug one in, list it in /etc/default/gpsd, or add it (gpsdctl add)")
        case .deviceNotOpened(let devices):
            Wording(
                "cannot open \(devices.map(\.description).joined(separator: " and "))",
                devices.count == 1
                    ? "check that it is plugged in and that gpsd can read it"
                    : "check that they are plugged in and that gpsd can read them")
        }
    }
}

extension [Int] {
    fileprivate func listed(with conjunction: String) -> String {
        let texts = map(String.init)
        guard let last = texts.last, texts.count > 1 else { return texts.first ?? "" }
        return texts.dropLast().joined(separator: ", ") + " \(conjunction) \(last)"
    }
}

extension DeviceHolders {
    /// The remedies for all programs, each listed only once.
    var remedy: ReportedText {
        let remedies = programs.reduce(into: [String]()) { remedies, program in
            let remedy = program.remedy.description
            if !remedies.contains(remedy) { remedies.append(remedy) }
        }
        return "\(text: remedies.joined(separator: "; "))"
    }
}

extension DeviceHolders.Program {
    fileprivate var remedy: ReportedText {
        switch self {
        case .gpsd:
            "read from gpsd instead (receiver.type gpsd), or stop gpsd (systemctl disable --now gpsd.socket gpsd)"
        case .modemManager: "exclude the device with udev (ID_MM_DEVICE_IGNORE, see 99-waypost-gnss.rules)"
        case .brltty: "disable brltty (systemctl mask --now brltty-udev), or uninstall it"
        case .loginConsole(let terminal):
            "stop the login console (systemctl disable --now serial-getty@\(terminal))"
        case .waypost(let stopCommand): "a receiver has one reader: stop the other Waypost (\(stopCommand))"
        case .other: "stop the program, or have it leave the device alone"
        case .hidden(let device):
            """
            run fuser -v \(device) as root to find the program, and stop it; ModemManager, gpsd and login consoles open \
            such devices
            """
        }
    }
}
