import Glibc

/// A system call that failed.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was attempted, as `open /dev/ttyUSB0`.
    package let call: String
    /// The value of `errno`.
    package let number: CInt

    package init(call: String, number: CInt) { (self.call, self.number) = (call, number) }

    /// The system's words for `number`, as `Permission denied`.
    package var reason: String { unsafe String(cString: strerror(number)) }

    package var description: String { "\(call): \(reason)" }
}

/// Calls `body` until it is not interrupted by a signal; -1 becomes an error that names `call`.
@discardableResult
package func valueOrSystemError<Value: FixedWidthInteger>(
    _ call: @autoclosure () -> String, _ body: () -> Value
) throws(SystemError) -> Value {
    while true {
        let value = body()
        if value != -1 { return value }
        let number = errno
        guard number == EINTR else { throw SystemError(call: call(), number: number) }
    }
}

extension SystemError {
    /// Whether the reader of a pipe or socket has gone.
    package var isBrokenPipe: Bool { number == EPIPE }
}
