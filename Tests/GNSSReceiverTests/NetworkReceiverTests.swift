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
        try await observe(TCPReceiver(host: "localhost", port: port)) { observer in
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
        let ending = await observe(TCPReceiver(host: "127.0.0.1", port: port)) { observer in
            let state = await observer.state(saying: "cannot connect: Connection refused; check host and port")
            #expect(state != nil)
        }
        #expect(ending?.code == .cancelled)
    }

    @Test func saysThatAHostIsUnknown() async throws {
        await observe(TCPReceiver(host: "no such host", port: 10110)) { observer in
            #expect(await observer.state(saying: "no such host cannot be found (") != nil)
        }
    }

    @Test func takesDatagrams() async throws {
        try await observe(UDPReceiver(host: "127.0.0.1", port: 0)) { observer in
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
        await observe(UDPReceiver(host: "127.0.0.1", port: other.port)) { observer in
            #expect(await observer.state(saying: "cannot listen: Address already in use") != nil)
        }
        withExtendedLifetime(other) {}
    }

    @Test func asksGpsdForSentencesAndPassesOverItsObjects() async throws {
        let server = try LoopbackSocket(.stream)
        try await observe(GPSDReceiver(host: "127.0.0.1", port: server.port)) { observer in
            await observer.state(saying: "connected")
            let connection = try server.accept()
            #expect(try connection.receive() == "?WATCH={\"enable\":true,\"nmea\":true}\n")
            try connection.send(
                "{\"class\":\"VERSION\",\"release\":\"3.22\"}\r\n{\"class\":\"WATCH\",\"nmea\":true}\r\n")
            try connection.send(epoch(second: 1))
            #expect(await observer.fix() != nil)
        }
    }
}
