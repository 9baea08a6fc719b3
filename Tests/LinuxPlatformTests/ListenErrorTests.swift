import Conditions
import Glibc
import Testing
import WaypostTestSupport

@testable import LinuxPlatform

/// The holder of an address.
@Suite struct ListenErrors {
    @Test(
        arguments: [
            (
                Listener.process(HoldingProcess(processID: 812, command: "waypost", unit: "waypost")),
                .process("waypost (process 812)", stopCommand: "systemctl stop waypost")
            ),
            (.user(998), .user("uid 998")),
        ] as [(Listener, ListenFault.Holder)])
    func nameTheHolder(listener: Listener, holder: ListenFault.Holder) {
        #expect(listener.fact == holder)
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
