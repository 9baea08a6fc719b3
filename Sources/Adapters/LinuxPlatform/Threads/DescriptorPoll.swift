import CLinux
import Glibc

/// How a wait on a descriptor ended.
package enum PollOutcome: Sendable, Hashable {
    /// There is something to read or room to write; with `isHungUp`, what is left to read is the last.
    case ready(isHungUp: Bool)
    case timedOut
    /// The stop event came; it wins over everything else.
    case stopped
}

/// What a wait on a descriptor is for.
package enum PollInterest: Sendable, Hashable {
    case reading, writing

    fileprivate var events: CShort { self == .reading ? CShort(POLLIN) : CShort(POLLOUT) }
}

/// Blocks until `descriptor` is ready, `timeout` is over, or `stop` is signalled, whichever is first.
///
/// For threads of their own: it blocks. Without a descriptor it is an interruptible sleep, without a time-out it waits
/// for ever.
package func poll(
    _ descriptor: CInt?, for interest: PollInterest = .reading, within timeout: Duration?, unless stop: EventDescriptor
) throws(SystemError) -> PollOutcome {
    // poll(2) skips negative descriptors.
    var entries: InlineArray<2, pollfd> = [
        pollfd(fd: stop.raw, events: CShort(POLLIN), revents: 0),
        pollfd(fd: descriptor ?? -1, events: interest.events, revents: 0),
    ]
    var span = entries.mutableSpan
    let count = try unsafe span.withUnsafeMutableBufferPointer { entries throws(SystemError) in
        try valueOrSystemError("poll") {
            unsafe Glibc.poll(entries.baseAddress, nfds_t(entries.count), timeout.map(wholeMilliseconds) ?? -1)
        }
    }
    if entries[0].revents != 0 { return .stopped }
    if count == 0 { return .timedOut }
    return .ready(isHungUp: entries[1].revents & CShort(POLLHUP | POLLERR | POLLNVAL) != 0)
}

/// Rounded up, so that a wait never ends just before its time, and within what poll(2) takes: a day at most.
func wholeMilliseconds(_ duration: Duration) -> CInt {
    let (seconds, attoseconds) = max(.zero, min(duration, .seconds(86_400))).components
    return CInt(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
}

/// Wakes a thread that sits in `poll`: an eventfd.
package final class EventDescriptor: Sendable {
    private let descriptor: OwnedDescriptor

    package init() throws(SystemError) {
        descriptor = OwnedDescriptor(
            owning: try valueOrSystemError("eventfd") { eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK)) })
    }

    /// For `poll`: readable once `signal` has been called.
    package var raw: CInt { descriptor.raw }

    /// Makes the descriptor readable.
    package func signal() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor.raw, &one, 8)  // can only fail when it is readable already
    }

    /// Blocks until the descriptor is readable; it stays readable.
    package func wait() {
        var watched = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&watched, 1, -1) < 1 {}
    }

    /// Makes the descriptor quiet again.
    package func clear() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor.raw, &count, 8)
    }
}

/// A descriptor that becomes readable at a steady interval: for `poll`, where a file itself cannot wake it.
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

/// A pipe whose reading end never blocks; neither end reaches a child unless it is given to it.
struct Pipe: ~Copyable {
    private let readingEnd: OwnedDescriptor
    let writingEnd: OwnedDescriptor

    init() throws(SystemError) {
        var ends: [CInt] = [-1, -1]
        try valueOrSystemError("pipe") { unsafe clinux_pipe(&ends) }
        readingEnd = OwnedDescriptor(owning: ends[0])
        writingEnd = OwnedDescriptor(owning: ends[1])
    }

    /// Closes the writing end, so that the stream ends with its last writer.
    consuming func keepReadingEnd() -> OwnedDescriptor { readingEnd }
}
