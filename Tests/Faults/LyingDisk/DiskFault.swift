/// A fault of a future call.
package struct DiskFault: Sendable, Hashable {
    package enum Failure: Sendable, Hashable {
        /// The call fails with this `errno` and has no effect, except that a failed sync discards the data that it
        /// should have written.
        case error(CInt)
        /// Only the first half of a write is written; other calls succeed.
        case shortWrite
        /// The call succeeds, and then the power fails.
        case powerCut
    }

    /// The kind of call that fails; `nil` for any call that changes something.
    package let call: DiskCall?
    /// The number of such calls until the fault, including the faulty call.
    package var number: Int
    /// Whether every later call also fails.
    package let lasts: Bool
    package let failure: Failure

    /// Creates a fault of the `number`th such call from now, counted from 1.
    package init(_ failure: Failure, at number: Int, of call: DiskCall? = nil, lasts: Bool = false) {
        self.failure = failure
        self.number = number
        self.call = call
        self.lasts = lasts
    }

    /// Counts a call. Returns whether the fault hits the call.
    mutating func countCall(_ call: DiskCall) -> Bool {
        guard self.call.map({ $0 == call }) ?? call.isChange else { return false }
        number -= 1
        return number == 0 || (lasts && number < 0)
    }

    var isOver: Bool { number <= 0 && !lasts }
}
