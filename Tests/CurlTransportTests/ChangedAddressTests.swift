import CurlTransport
import Glibc
import HTTPMessages
import LinuxPlatform
import ReportedText
import Testing
import WaypostTestSupport

/// A name whose address changes. Its addresses are in a file that replaces `/etc/hosts` for the transport's threads.
@Suite(
    .timeLimit(.minutes(1)), .enabled(if: TinyFileSystem.isAllowed, "mounting a file needs root"),
    .enabled(if: Loopback.hasIPv6, "IPv6 on loopback is needed"))
struct ChangedAddress {
    /// All servers accept connections and stay silent. The first attempt is made over IPv6, the next one over IPv4.
    @Test func isUsedAfterATimeout() async throws {
        let silent = try ListeningSocket(on: .loopback(host: "::1", port: 0))
        guard case .loopback(_, let port) = silent.address else { return }
        let old = try ListeningSocket(on: .loopback(host: "127.0.0.2", port: port))
        let new = try ListeningSocket(on: .loopback(host: "127.0.0.3", port: port))
        let directory = try TemporaryDirectory()
        let hosts = try directory.write("::1 fleet.test\n127.0.0.2 fleet.test\n".utf8, to: "hosts")
        let transport = try await onThread(named: "namespace") { Result { try Self.makeTransport(hosts: hosts) } }.get()
        let request = HTTPRequest(
            .get, try HTTPURL("https://fleet.test:\(port)/"),
            limits: HTTPLimits(connect: .milliseconds(300), total: .seconds(20)))
        let first = await #expect(throws: HTTPTransportError.self) { try await transport.send(request) }
        #expect(first?.route == "over IPv6; IPv4 is next")
        _ = try directory.write("::1 fleet.test\n127.0.0.3 fleet.test\n".utf8, to: "hosts")
        let second = await #expect(throws: HTTPTransportError.self) { try await transport.send(request) }
        #expect(second?.route == "over IPv4")
        let stop = try EventDescriptor()
        guard case .ready = try poll(new.raw, within: .zero, unless: stop) else {
            Issue.record("the new address is not used")
            return
        }
        if case .ready = try poll(old.raw, within: .zero, unless: stop) { Issue.record("the old address is used") }
        _ = silent.raw
    }

    /// Returns a transport for whose threads the file `hosts` is `/etc/hosts`. The calling thread isn't used again.
    private static func makeTransport(hosts: String) throws -> CurlTransport {
        // Swift's Glibc module lacks unshare(2).
        typealias Unshare = @convention(c) (_ flags: CInt) -> CInt
        let unshare = unsafe unsafeBitCast(dlsym(nil, "unshare"), to: Unshare.self)
        let newMountNamespace: CInt = 0x2_0000
        try valueOrSystemError("unshare") { unshare(newMountNamespace) }
        try valueOrSystemError("mount") { unsafe mount(nil, "/", nil, UInt(MS_REC | MS_PRIVATE), nil) }
        try valueOrSystemError("mount") { unsafe mount(hosts, "/etc/hosts", nil, UInt(MS_BIND), nil) }
        return try Loopback.makeTransport()
    }
}
