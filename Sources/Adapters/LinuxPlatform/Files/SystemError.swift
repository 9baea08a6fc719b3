import Conditions
import Glibc
import ReportedText
package import Reporting

/// The error of a system call that failed, or that wasn't made because it could have done harm.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The attempted operation, such as `open /dev/ttyUSB0`.
    package let call: String
    /// The value of `errno`.
    package let number: CInt
    /// The reason why the call wasn't made; `nil` if the call was made and failed.
    package let refusal: PathRefusal?

    package init(call: String, number: CInt) {
        self.call = call
        self.number = number
        refusal = nil
    }

    /// Creates the error for a call that wasn't made, so nothing has happened to `path`.
    package init(refusing path: String, because reason: PathRefusal.Reason) {
        call = "use \(path)"
        number = EPERM
        refusal = PathRefusal(of: path, because: reason)
    }

    /// The refusal's reason and remedy, or the system's text for `number`, such as `Permission denied`.
    package var reason: String {
        unsafe refusal?.wording.sentence.description ?? String(cString: strerror(number))
    }

    package var description: String { refusal == nil ? "\(call): \(reason)" : reason }
}

/// Calls `body`, and calls it again whenever a signal interrupts it. Throws an error that names `call` if `body`
/// returns -1.
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
    /// Whether the error says that the reader of a pipe or socket has gone.
    package var isBrokenPipe: Bool { number == EPIPE }
}
