import Glibc

/// The error of a system call that failed, or that wasn't made because it could have done harm.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The attempted operation, such as `open /dev/ttyUSB0`.
    package let call: String
    /// The value of `errno`.
    package let number: CInt
    /// The reason why the call wasn't made; `nil` if the call was made and failed.
    package let refusal: Refusal?

    package init(call: String, number: CInt) {
        self.call = call
        self.number = number
        refusal = nil
    }

    /// Creates the error for a call that wasn't made, so nothing has happened to `path`.
    package init(refusing path: String, because refusal: Refusal) {
        call = "use \(path)"
        number = EPERM
        self.refusal = refusal
    }

    /// The refusal's reason and remedy, or the system's text for `number`, such as `Permission denied`.
    package var reason: String {
        if let refusal { return refusal.sentence }
        return unsafe String(cString: strerror(number))
    }

    package var description: String { refusal?.sentence ?? "\(call): \(reason)" }
}

extension SystemError {
    /// The reason why a call wasn't made, with the remedy.
    package struct Refusal: Sendable, Hashable {
        /// The reason, as a whole sentence or as a predicate for a path.
        package let reason: String
        /// The remedy; empty if none is known.
        package let remedy: String

        package init(_ reason: String, _ remedy: String) {
            self.reason = reason
            self.remedy = remedy
        }

        /// The reason and the remedy, in one line.
        package var sentence: String { remedy.isEmpty ? reason : "\(reason); \(remedy)" }

        /// Returns a refusal whose reason is a sentence about `subject`. The current reason must be a predicate.
        func withSubject(_ subject: String) -> Refusal { Refusal("\(subject) \(reason)", remedy) }
    }
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
