import GNSS
import Glibc
import LinuxPlatform
import LocationReporting
import Testing
import WaypostTestSupport

@testable import GNSSReceiver

@Suite(.timeLimit(.minutes(1))) struct NetworkReceiving {
    @Test func survivesATCPServerThatGoesAndComesBack() async throws {
        var server: LoopbackSocket? = try LoopbackSocket(.stream)
        let port = try #require(server?.port)
        try await observe(NetworkReceiver(.tcp, host: "localhost", port: port)) { observer in
            for second in 1...2 {
                if server == nil { server = try LoopbackSocket(.stream, port: port) }
                await observer.state(saying: "tcp localhost:\(port): connected")
                let connection = try #require(try server?.accept())
                try connection.send(epoch(second: second))
                #expect(await observer.fix() != nil)
                server = nil
                withExtendedLifetime(connection) {}
            }
        }
    }

    @Test func saysThatNobodyListens() async throws {
        let port = try LoopbackSocket(.stream).port  // closed again at once
        let ending = await observe(NetworkReceiver(.tcp, host: "127.0.0.1", port: port)) { observer in
            let state = await observer.state(saying: "cannot connect: Connection refused; check host and port")
            #expect(state != nil)
        }
        #expect(ending?.code == .cancelled)
    }

    @Test func saysThatAHostIsUnknown() async throws {
        await observe(NetworkReceiver(.tcp, host: "no such host", port: 10110)) { observer in
            #expect(await observer.state(saying: "no such host cannot be found (") != nil)
        }
    }

    @Test func takesDatagrams() async throws {
        try await observe(NetworkReceiver(.udp, host: "127.0.0.1", port: 0)) { observer in
            let state = await observer.state(saying: "listening on port ")?.description ?? ""
            let port = try #require(state.firstMatch(of: /port (\d+)/).flatMap { Int($0.1) })
            let sender = try LoopbackSocket(.datagrams, connectedTo: port)
            try sender.send("")
            try sender.send(epoch(second: 1))
            #expect(await observer.fix() != nil)
            try sender.send(epoch(second: 2))
            #expect(await observer.fix() != nil)
        }
    }

    @Test func saysThatAPortIsTaken() async throws {
        let other = try LoopbackSocket(.datagrams)
        await observe(NetworkReceiver(.udp, host: "127.0.0.1", port: other.port)) { observer in
            #expect(await observer.state(saying: "cannot listen: Address already in use") != nil)
        }
        withExtendedLifetime(other) {}
    }

    @Test func asksGpsdForReportsAndSaysWhatIsMissing() async throws {
        let server = try LoopbackSocket(.stream)
        try await observe(GPSDReceiver(host: "127.0.0.1", port: server.port)) { observer in
            let connection = try server.accept()
            #expect(try connection.receive() == "?WATCH={\"enable\":true,\"json\":true}\n")
            try connection.send(
                "{\"class\":\"VERSION\",\"release\":\"3.22\"}\r\n{\"class\":\"DEVICES\",\"devices\":[]}\r\n")
            #expect(await observer.state(saying: "gpsd 127.0.0.1:\(server.port): gpsd has no receiver") != nil)
            try connection.send("{\"class\":\"DEVICE\",\"path\":\"/dev/a\",\"activated\":1}\r\n")
            try connection.send(positionReport("/dev/a", second: 1, mode: 1) + "\r\n")
            #expect(await observer.state(saying: "/dev/a has no position yet") != nil)
            try connection.send(positionReport("/dev/a", second: 1) + "\r\n")
            #expect(await observer.state(saying: "receiving") != nil)
            #expect(await observer.fix() != nil)
            try connection.send("{\"class\":\"DEVICE\",\"path\":\"/dev/a\",\"activated\":0}\r\n")
            #expect(await observer.state(saying: "gpsd has lost /dev/a") != nil)
        }
    }

    @Test func asksGpsdForSentencesTooWhenTheyAreRecorded() async throws {
        let server = try LoopbackSocket(.stream)
        let folder = try TemporaryFolder()
        let recording = RecordingSettings(folder: folder.path("")) { _ in }
        try await observe(GPSDReceiver(host: "127.0.0.1", port: server.port, recording: recording)) { observer in
            let connection = try server.accept()
            #expect(try connection.receive() == "?WATCH={\"enable\":true,\"json\":true,\"nmea\":true}\n")
            try connection.send(epoch(second: 1) + positionReport("/dev/a", second: 1) + "\r\n")
            #expect(await observer.fix() != nil)
        }
    }

    @Test func saysThatGpsdIsSilent() async throws {
        let server = try LoopbackSocket(.stream)
        let receiver = GPSDReceiver(host: "127.0.0.1", port: server.port, patience: .milliseconds(100))
        await observe(receiver) { observer in
            #expect(await observer.state(saying: "no report for 0 s; check that gpsd's receiver") != nil)
        }
    }
}
