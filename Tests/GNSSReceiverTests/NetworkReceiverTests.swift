import GNSS
import Glibc
import LinuxPlatform
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import GNSSReceiver

@Suite(.timeLimit(.minutes(1))) struct NetworkReceivers {
    @Test func reconnectToATCPServerThatReturns() async throws {
        let reservation = try LoopbackSocket.reservation()
        let port = reservation.port
        try await observe(LiveReceiver.tcp(host: "localhost", port: port)) { observer in
            for second in 1...2 {
                let server = try LoopbackSocket(.stream, port: port)
                await observer.state(saying: "tcp localhost:\(port): connected")
                let connection = try server.accept()
                try connection.send(epoch(second: second))
                #expect(await observer.fix() != nil)
                withExtendedLifetime((server, connection)) {}
            }
        }
        withExtendedLifetime(reservation) {}
    }

    @Test func doNotJoinHalvesOfASentenceAcrossConnections() async throws {
        let server = try LoopbackSocket(.stream)
        let cut = epoch(second: 2)
        try await observe(LiveReceiver.tcp(host: "127.0.0.1", port: server.port)) { observer in
            var connection: LoopbackSocket? = try server.accept()
            try connection?.send(epoch(second: 1) + cut.prefix(30))
            #expect(await observer.second() == 1)
            connection = nil
            let next = try server.accept()
            try next.send(cut.dropFirst(30) + epoch(second: 3))
            // The RMC of the cut epoch produces a fix without an altitude, which was in the other half.
            while let fix = await observer.fix(), fix.timeOfFix.millisecondOfDay / 1000 % 60 != 3 {
                #expect(fix.altitudeMeters == nil)
            }
        }
    }

    @Test func reportASilentServerAndReconnect() async throws {
        let server = try LoopbackSocket(.stream)
        let receiver = LiveReceiver.tcp(host: "127.0.0.1", port: server.port, timeout: .milliseconds(100))
        try await observe(receiver) { observer in
            let silent = try server.accept()
            #expect(await observer.state(saying: "silent for at least 0 s; check that the server has data") != nil)
            let connection = try server.accept()
            try connection.send(epoch(second: 1))
            #expect(await observer.second() == 1)
            withExtendedLifetime(silent) {}
        }
    }

    private static let otherPrograms = [
        (
            "{\"class\":\"VERSION\",\"release\":\"3.22\"}\r\n",
            "gpsd answers, with its JSON reports; set receiver.type to gpsd"
        ),
        ("SSH-2.0-OpenSSH_9.2\r\n", "an SSH server answers, not a receiver; check host and port"),
        ("HTTP/1.1 408 Request Timeout\r\n\r\n", "a web server answers, not a receiver; check host and port"),
    ]

    private static let greetings = [
        (
            "220 mail.example ESMTP\r\n",
            "the incoming text isn't NMEA (it begins with \"220 mail.example ESMTP\"); check that host and port are the"
        ), ("login: ", "(it begins with \"login: \"); check that host and port are the receiver's"),
        ("lat 48.1234 lon 11.5678\r\n", "the incoming text isn't NMEA; check that host and port are the receiver's"),
    ]

    /// The other program sends a greeting and then waits.
    @Test(arguments: otherPrograms + greetings)
    func nameTheOtherProgramThatAnswers(greeting: String, message: String) async throws {
        let server = try LoopbackSocket(.stream)
        let receiver = LiveReceiver.tcp(host: "127.0.0.1", port: server.port, timeout: .milliseconds(100))
        try await observe(receiver) { observer in
            let connection = try server.accept()
            try connection.send(greeting)
            #expect(await observer.state(saying: message) != nil)
            withExtendedLifetime(connection) {}
        }
    }

    /// The program is reported once, however often the line is reopened.
    @Test(arguments: otherPrograms)
    func nameTheOtherProgramThatAnsweredAndDisconnected(greeting: String, message: String) async throws {
        let server = try LoopbackSocket(.stream)
        let address = "tcp 127.0.0.1:\(server.port)"
        try await observe(LiveReceiver.tcp(host: "127.0.0.1", port: server.port)) { observer in
            for _ in 1...2 { try server.accept().send(greeting) }
            let connection = try server.accept()
            try connection.send(epoch(second: 1))
            #expect(await observer.second() == 1)
            let troubles = observer.states.filter { !$0.contains("receiving") && !$0.contains("connected") }
            #expect(troubles.count == 1 && troubles.first?.hasPrefix("\(address): \(message)") == true, "\(troubles)")
            #expect(observer.states.filter { $0.contains("connected") }.count <= 1, "\(observer.states)")
        }
    }

    @Test func reportSentencesInsteadOfReportsFromGpsd() async throws {
        let server = try LoopbackSocket(.stream)
        let receiver = LiveReceiver.gpsd(host: "127.0.0.1", port: server.port, timeout: .milliseconds(100))
        try await observe(receiver) { observer in
            let connection = try server.accept()
            try connection.send(epoch(second: 1))
            let message = "NMEA sentences arrive, not gpsd's reports; set receiver.type to tcp"
            #expect(await observer.state(saying: message) != nil)
            withExtendedLifetime(connection) {}
        }
    }

    @Test func reportAWebServerInsteadOfGpsd() async throws {
        let server = try LoopbackSocket(.stream)
        try await observe(LiveReceiver.gpsd(host: "127.0.0.1", port: server.port)) { observer in
            do {
                let connection = try server.accept()
                _ = try connection.receive()
                try connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
            }
            #expect(await observer.state(saying: "a web server answers, not a receiver") != nil)
        }
    }

    @Test func findFixesInAFloodOfUnfinishedSentences() async throws {
        let server = try LoopbackSocket(.stream)
        try await observe(LiveReceiver.tcp(host: "127.0.0.1", port: server.port)) { observer in
            let connection = try server.accept()
            // Megabytes without a line end: a sentence that starts over and over.
            let flood = String(repeating: "$GPGGA,101500.000,4810", count: 1 << 15)
            let sending = Task {
                await onThread(named: "flood") {
                    for second in 1...12 { try? connection.send(flood + epoch(second: second)) }
                }
            }
            var last = 0
            while last != 12, let second = await observer.second() { last = second }
            #expect(last == 12)
            await sending.value
        }
    }

    @Test func reportARefusedConnection() async throws {
        let closed = try LoopbackSocket.reservation()
        let ending = await observe(LiveReceiver.tcp(host: "127.0.0.1", port: closed.port)) { observer in
            let state = await observer.state(saying: "cannot connect: Connection refused; check host and port")
            #expect(state != nil)
        }
        #expect(ending?.code == .cancelled)
    }

    @Test func reportAnUnknownHost() async throws {
        await observe(LiveReceiver.tcp(host: "no such host", port: 10110)) { observer in
            #expect(await observer.state(saying: "no such host cannot be found (") != nil)
        }
    }

    /// Runs `body` with a UDP receiver and a function that sends a datagram, each time from another port.
    private func withUDPReceiver(
        _ body: (SourceObserver, _ send: (String) throws -> Void) async throws -> Void
    ) async throws {
        try await observe(LiveReceiver.udp(host: "127.0.0.1", port: 0)) { observer in
            let state = await observer.state(saying: "listening on port ").map { "\($0)" } ?? ""
            let port = try #require(state.firstMatch(of: /port (\d+)/).flatMap { Int($0.1) })
            try await body(observer) { try LoopbackSocket(.datagrams, connectedTo: port).send($0) }
        }
    }

    @Test func acceptDatagramsFromAnySender() async throws {
        try await withUDPReceiver { observer, send in
            try send("")
            try send(epoch(second: 1))
            #expect(await observer.second() == 1)
            for sentence in epoch(second: 2).split(separator: "\r\n") { try send(String(sentence)) }
            #expect(await observer.second() == 2)
            try send(epoch(second: 3) + epoch(second: 4) + epoch(second: 5))
            #expect(await observer.second() == 5)
        }
    }

    @Test func doNotJoinHalvesOfASentenceAcrossDatagrams() async throws {
        try await withUDPReceiver { observer, send in
            let halves = epoch(second: 1)
            try send(String(halves.prefix(30)))
            // If the pieces were joined, they would be sentences with correct checksums.
            try send(String(halves.dropFirst(30).prefix(90)))
            try send(String(halves.dropFirst(120)))
            try send(epoch(second: 2))
            #expect(await observer.second() == 2)
        }
    }

    @Test func produceOneFixForRepeatedDatagrams() async throws {
        try await withUDPReceiver { observer, send in
            for second in [1, 2, 2, 1, 2, 3] { try send(epoch(second: second)) }
            var seconds: [Int] = []
            while seconds.last != 3, let second = await observer.second() { seconds.append(second) }
            #expect(seconds == Set(seconds).sorted(), "\(seconds)")
        }
    }

    @Test func reportAPortInUse() async throws {
        let other = try LoopbackSocket(.datagrams)
        await observe(LiveReceiver.udp(host: "127.0.0.1", port: other.port)) { observer in
            #expect(await observer.state(saying: "cannot listen: Address already in use") != nil)
        }
        withExtendedLifetime(other) {}
    }

    @Test func requestReportsFromGpsdAndNameTheMissingDevice() async throws {
        let server = try LoopbackSocket(.stream)
        try await observe(LiveReceiver.gpsd(host: "127.0.0.1", port: server.port)) { observer in
            let connection = try server.accept()
            #expect(try connection.receive() == "?WATCH={\"enable\":true,\"json\":true}\n")
            try connection.send(
                "{\"class\":\"VERSION\",\"release\":\"3.22\"}\r\n{\"class\":\"DEVICES\",\"devices\":[]}\r\n")
            #expect(await observer.state(saying: "gpsd 127.0.0.1:\(server.port): has no receiver") != nil)
            try connection.send("{\"class\":\"DEVICE\",\"path\":\"/dev/a\",\"activated\":1}\r\n")
            try connection.send(positionReport(from: "/dev/a", second: 1, mode: 1) + "\r\n")
            #expect(await observer.state(saying: "receiving") != nil)
            try connection.send(positionReport(from: "/dev/a", second: 1) + "\r\n")
            #expect(await observer.fix() != nil)
            try connection.send("{\"class\":\"DEVICE\",\"path\":\"/dev/a\",\"activated\":0}\r\n")
            #expect(await observer.state(saying: "has lost /dev/a") != nil)
        }
    }

    @Test func requestSentencesFromGpsdForARecording() async throws {
        let server = try LoopbackSocket(.stream)
        let tap = RecordingTap()
        try await observe(LiveReceiver.gpsd(host: "127.0.0.1", port: server.port, progress: tap, tap: tap)) {
            observer in
            let connection = try server.accept()
            #expect(try connection.receive() == "?WATCH={\"enable\":true,\"json\":true,\"nmea\":true}\n")
            try connection.send(epoch(second: 1) + positionReport(from: "/dev/a", second: 1) + "\r\n")
            #expect(await observer.fix() != nil)
        }
    }

    @Test func reportThatGpsdIsSilent() async throws {
        let server = try LoopbackSocket(.stream)
        let receiver = LiveReceiver.gpsd(host: "127.0.0.1", port: server.port, timeout: .milliseconds(100))
        await observe(receiver) { observer in
            #expect(await observer.state(saying: "no report for at least 0 s; check that gpsd's receiver") != nil)
        }
    }
}
