import Glibc

/// A system call that failed, or was not made because of what it could have done.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was attempted, as `open /dev/ttyUSB0`.
    package let call: String
    /// The value of `errno`.
    package let number: CInt
    /// Why it was not made, with the remedy; `nil` when the system refused it.
    package let refusal: String?

    package init(call: String, number: CInt) {
        self.call = call
        self.number = number
        refusal = nil
    }

    /// `path` is not touched for a reason that is a whole sentence.
    package init(refusing path: String, because refusal: String) {
        call = "use \(path)"
        number = EPERM
        self.refusal = refusal
    }

    /// Our words, or the system's for `number`, as `Permission denied`.
    package var reason: String {
        if let refusal { return refusal }
        return unsafe String(cString: strerror(number))
    }

    package var description: String { refusal ?? "\(call): \(reason)" }
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
