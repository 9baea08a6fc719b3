import HTTPMessages

/// How much may come on each connection until all exchanges that are under way have ended: a decision, without sockets.
///
/// It is counted below HTTP, for whole floods of frames bring no body: libcurl reads on as long as something comes,
/// and looks at no time limit meanwhile.
struct ReceivedBytes: Sendable {
    /// Beyond twice the largest body: TLS's certificates, header lines, the framing of both.
    private static let overhead = 512 * 1024

    private var exchanges = 0
    private var allowance = 0
    /// By socket, what had come when the first of the exchanges began.
    private var before: [CInt: Int] = [:]

    /// Whether any exchange is under way.
    var isBusy: Bool { exchanges > 0 }

    /// The sockets that are open.
    var sockets: some Collection<CInt> { before.keys }

    mutating func opened(_ socket: CInt) { before[socket] = 0 }

    mutating func closed(_ socket: CInt) { before[socket] = nil }

    /// An exchange begins; `received` tells how many bytes have come on a socket so far.
    mutating func exchangeBegan(allowing limits: HTTPLimits, received: (CInt) -> Int) {
        if exchanges == 0 {
            allowance = 0
            for socket in before.keys { before[socket] = received(socket) }
        }
        exchanges += 1
        allowance += 2 * min(max(0, limits.responseBytes), 1 << 40) + Self.overhead
    }

    mutating func exchangeEnded() { exchanges -= 1 }

    /// Whether more has come on `socket` than any answers need.
    func isFlooded(_ socket: CInt, received: Int) -> Bool {
        isBusy && received - (before[socket] ?? 0) > allowance
    }
}
