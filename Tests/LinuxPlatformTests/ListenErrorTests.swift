import Glibc
import Testing
import WaypostTestSupport

@testable import LinuxPlatform

/// The holder of an address, the remedy, and how to find an unknown holder.
@Suite struct ListenErrors {
    @Test(arguments: [
        (
            Listener.process(HoldingProcess(processID: 812, command: "waypost", unit: "waypost")),
            "waypost (process 812) holds it; stop it (systemctl stop waypost), or choose another port (0 selects a free one)"
        ),
        (
            .user(998),
            "a process of uid 998 holds it; find it as root (ss -ltnp sport = :9464) and stop it, or choose another port "
                + "(0 selects a free one)"
        ),
        (
            nil,
            "another process holds it; find it as root (ss -ltnp sport = :9464) and stop it, or choose another port "
                + "(0 selects a free one)"
        ),
    ])
    func haveARemedy(listener: Listener?, expected: String) {
        #expect(
            ListenError.explanation(of: listener, on: .loopback(host: "127.0.0.1", port: 9464)).sentence == expected)
    }

    @Test func nameTheListenerOnAUnixSocket() throws {
        let directory = try TemporaryDirectory()
        let socket = try ListeningSocket(on: .unix(path: directory.path("status")))
        #expect(Listener(on: socket.address) == .process(HoldingProcess(reading: getpid())))
        let error = #expect(throws: ListenError.self) { try ListeningSocket(on: socket.address) }
        #expect(error?.description.hasSuffix(" holds it; stop it (kill \(getpid())), or choose another path") == true)
        #expect(Listener(on: .unix(path: directory.path("none"))) == nil)
    }

    @Test func reportThatTheDirectoryOfASocketIsMissing() throws {
        let directory = try TemporaryDirectory().path("none")
        let error = #expect(throws: ListenError.self) { try ListeningSocket(on: .unix(path: directory + "/status")) }
        #expect(error?.description.contains("No such file or directory; create \(directory) for this user") == true)
    }

    @Test func nameTheListenerOnAPort() throws {
        let socket = try ListeningSocket(on: .loopback(host: "127.0.0.1", port: 0))
        #expect(Listener(on: socket.address) == .process(HoldingProcess(reading: getpid())))
    }
}
