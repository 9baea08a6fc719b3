/// Bytes of one exchange as libcurl counts them: request and answer with their headers, without TLS and TCP framing.
package struct HTTPTraffic: Sendable, Hashable {
    package var bytesSent: Int
    package var bytesReceived: Int

    package init(bytesSent: Int = 0, bytesReceived: Int = 0) {
        (self.bytesSent, self.bytesReceived) = (bytesSent, bytesReceived)
    }

    package static func + (one: Self, other: Self) -> Self {
        Self(
            bytesSent: one.bytesSent + other.bytesSent, bytesReceived: one.bytesReceived + other.bytesReceived)
    }

    package static func += (sum: inout Self, other: Self) { sum = sum + other }
}
