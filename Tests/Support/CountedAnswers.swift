package import HTTPMessages
import LinuxPlatform

/// Answers of a server that fails a number of times and then works.
package final class CountedAnswers: Sendable {
    private let failures: [HTTPResponse]
    private let success: HTTPResponse
    private let left: Locked<Int>

    package init(_ failures: [HTTPResponse], times: Int, then success: HTTPResponse) {
        (self.failures, self.success, left) = (failures, success, Locked(times))
    }

    /// The next answer; the failures in turn.
    package func next() -> HTTPResponse { nextOrNothing() ?? failures[0] }

    /// The next answer, or `nil` while it still fails.
    package func nextOrNothing() -> HTTPResponse? {
        let works = left.withLock { left in
            left -= 1
            return left < 0
        }
        return works ? success : nil
    }
}
