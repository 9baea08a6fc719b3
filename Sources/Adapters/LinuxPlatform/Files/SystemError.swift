import Glibc

/// A failed system call, or a call that wasn't made because it could have done harm.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The attempted operation, such as `open /dev/ttyUSB0`.
    package let call: String
    /// The value of `errno`.
    package let number: CInt
    /// The reason why the call wasn't made, with the remedy; `nil` if the call was made and failed.
    package let refusal: String?

    package init(call: String, number: CInt) {
        self.call = call
        self.number = number
        refusal = nil
    }

    /// Creates an error for `path`, which wasn't touched. `refusal` is a whole sentence.
    package init(refusing path: String, because refusal: String) {
        call = "use \(path)"
        number = EPERM
        self.refusal = refusal
    }

    /// The refusal, or the system's text for `number`, such as `Permission denied`.
    package var reason: String {
        if let refusal { return refusal }
        return unsafe String(cString: strerror(number))
    }

    package var description: String { refusal ?? "\(call): \(reason)" }
}

/// Calls `body`, repeatedly if signals interrupt it. Throws an error that names `call` if it returns -1.
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
