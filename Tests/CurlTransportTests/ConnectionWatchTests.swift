import CCurl
import Glibc
import HTTPMessages
import Testing

@testable import CurlTransport

@Suite struct ConnectionWatches {
    /// The kernel watches a connection closely only while an answer is expected on that connection.
    @Test func followTheExchanges() throws {
        let sockets = try CurlSockets()
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        defer { _ = sockets.close(descriptor) }
        sockets.beginExchange(allowing: HTTPLimits())
        sockets.recordOpening(of: descriptor)
        #expect(
            socketOption(TCP_USER_TIMEOUT, of: descriptor) == 10_000 && socketOption(TCP_KEEPIDLE, of: descriptor) == 5)
        sockets.endExchange()
        #expect(socketOption(TCP_KEEPIDLE, of: descriptor) == 60)
        sockets.beginExchange(allowing: HTTPLimits())
        #expect(
            socketOption(TCP_USER_TIMEOUT, of: descriptor) == 5000 && socketOption(TCP_KEEPINTVL, of: descriptor) == 5)
        sockets.endExchange()
    }

    private func socketOption(_ name: CInt, of descriptor: CInt) -> CInt {
        var value: CInt = -1
        var size = socklen_t(MemoryLayout<CInt>.size)
        _ = unsafe getsockopt(descriptor, CInt(IPPROTO_TCP), name, &value, &size)
        return value
    }
}
