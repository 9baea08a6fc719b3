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

/// Rounded up, so that a wait never ends just before its time, and within what poll(2) takes.
private func wholeMilliseconds(_ duration: Duration) -> CInt {
    let (seconds, attoseconds) = max(.zero, min(duration, .seconds(86_400))).components
    return CInt(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
}
