import CLinux

/// A descriptor that becomes readable at a steady interval: for `poll`, where a file itself cannot tell.
package final class Ticker: Sendable {
    private let descriptor: OwnedDescriptor

    package init(every interval: Duration) throws(SystemError) {
        let (seconds, attoseconds) = interval.components
        let milliseconds = Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
        descriptor = OwnedDescriptor(
            owning: try valueOrSystemError("timerfd") { clinux_ticker(milliseconds) })
    }

    /// For `poll`.
    package var raw: CInt { descriptor.raw }

    /// Makes the descriptor quiet until the next tick.
    package func clear() {
        var ticks = [UInt8](repeating: 0, count: 8)
        var span = ticks.mutableSpan
        _ = try? descriptor.read(into: &span)  // can only fail when it is quiet already
    }
}
