import CCurl
import Glibc
import HTTPMessages
import Testing

@testable import CurlTransport

@Suite struct ConnectionWatches {
    /// The kernel watches a connection closely only while an answer is expected on it.
    @Test func followTheExchanges() throws {
        let sockets = try CurlSockets()
        let raw = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        try #require(raw >= 0)
        defer { _ = sockets.close(raw) }
        sockets.beginExchange(allowing: HTTPLimits())
        sockets.recordOpening(of: raw)
        #expect(option(TCP_USER_TIMEOUT, of: raw) == 10_000 && option(TCP_KEEPIDLE, of: raw) == 5)
        sockets.endExchange()
        #expect(option(TCP_KEEPIDLE, of: raw) == 60)
        sockets.beginExchange(allowing: HTTPLimits())
        #expect(option(TCP_USER_TIMEOUT, of: raw) == 5000 && option(TCP_KEEPINTVL, of: raw) == 5)
        sockets.endExchange()
    }

    private func option(_ name: CInt, of raw: CInt) -> CInt {
        var value: CInt = -1
        var size = socklen_t(MemoryLayout<CInt>.size)
        _ = unsafe getsockopt(raw, CInt(IPPROTO_TCP), name, &value, &size)
        return value
    }
}
