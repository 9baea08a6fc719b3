import CLinux
import Glibc

package enum PollOutcome: Sendable, Hashable {
    /// There is data to read, or room to write. If `isHungUp` is true, no more data follows.
    case ready(isHungUp: Bool)
    case timedOut
    /// The stop event was signalled. This result takes precedence over all others.
    case stopped
}

package enum PollInterest: Sendable, Hashable {
    case reading, writing

    fileprivate var events: CShort { self == .reading ? CShort(POLLIN) : CShort(POLLOUT) }
}

/// Blocks until `descriptor` is ready, `timeout` has passed, or `stop` is signalled, whichever comes first. Returns
/// which of these events has ended the wait.
///
/// Call it on a dedicated thread, because it blocks. Without a descriptor, it is a sleep that `stop` interrupts.
/// Without a timeout, it waits as long as necessary.
package func poll(
    _ descriptor: CInt?, for interest: PollInterest = .reading, within timeout: Duration?, unless stop: EventDescriptor
) throws(SystemError) -> PollOutcome {
    // poll(2) ignores negative descriptors.
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

/// Returns a duration in milliseconds for poll(2). The result is rounded up, so that a wait never ends early, and is at
/// most a day.
func wholeMilliseconds(_ duration: Duration) -> CInt {
    let (seconds, attoseconds) = max(.zero, min(duration, .seconds(86_400))).components
    return CInt(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
}

/// An event that wakes a thread in `poll` (eventfd(2)).
package final class EventDescriptor: Sendable {
    private let descriptor: OwnedDescriptor

    package init() throws(SystemError) {
        descriptor = OwnedDescriptor(
            owning: try valueOrSystemError("eventfd") { eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK)) })
    }

    /// The descriptor's number, for `poll`. The descriptor becomes readable when `signal` is called.
    package var raw: CInt { descriptor.raw }

    package func signal() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor.raw, &one, 8)  // fails only if the descriptor is already readable
    }

    /// Blocks until the event is signalled. Doesn't clear it.
    package func wait() {
        var watched = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&watched, 1, -1) < 1 {}
    }

    /// Clears the event, so that the descriptor is no longer readable.
    package func clear() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor.raw, &count, 8)
    }
}

/// A descriptor that becomes readable at regular intervals. It wakes `poll` in place of files that can't do so
/// themselves.
package final class Ticker: Sendable {
    private let descriptor: OwnedDescriptor

    package init(every interval: Duration) throws(SystemError) {
        let (seconds, attoseconds) = interval.components
        let milliseconds = Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
        descriptor = OwnedDescriptor(
            owning: try valueOrSystemError("timerfd") { clinux_ticker(milliseconds) })
    }

    package var raw: CInt { descriptor.raw }

    /// Makes the descriptor unreadable until the next tick.
    package func clear() {
        var ticks = [UInt8](repeating: 0, count: 8)
        var span = ticks.mutableSpan
        _ = try? descriptor.read(into: &span)  // fails only if the descriptor isn't readable
    }
}

/// A pipe whose reading end is nonblocking. A child process inherits neither end unless it is passed on explicitly.
struct Pipe: ~Copyable {
    private let readingEnd: OwnedDescriptor
    let writingEnd: OwnedDescriptor

    init() throws(SystemError) {
        var ends: [CInt] = [-1, -1]
        try valueOrSystemError("pipe") { unsafe clinux_pipe(&ends) }
        readingEnd = OwnedDescriptor(owning: ends[0])
        writingEnd = OwnedDescriptor(owning: ends[1])
    }

    /// Closes this process's writing end and returns the reading end. The stream ends when the last other writer has
    /// closed the pipe.
    consuming func keepReadingEnd() -> OwnedDescriptor { readingEnd }
}
