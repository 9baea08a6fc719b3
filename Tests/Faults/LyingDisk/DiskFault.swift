/// Something that goes wrong at a call yet to come.
package struct DiskFault: Sendable, Hashable {
    package enum Failure: Sendable, Hashable {
        /// The call fails with this `errno` and does nothing; a sync that fails forgets what it should have written.
        case error(CInt)
        /// Only the first half of a write is taken; other calls go well.
        case shortWrite
        /// The call is made, and then the power goes.
        case powerCut
    }

    /// `nil`: any call that changes something.
    package let call: DiskCall?
    /// Such calls still to go, this fault's own included.
    package var number: Int
    /// Whether every later one fails as well.
    package let lasts: Bool
    package let failure: Failure

    /// A fault at the `number`th such call from now; the next one is 1.
    package init(_ failure: Failure, at number: Int, of call: DiskCall? = nil, lasts: Bool = false) {
        self.failure = failure
        self.number = number
        self.call = call
        self.lasts = lasts
    }

    /// Counts a call; whether it is struck.
    mutating func strikes(_ call: DiskCall) -> Bool {
        guard self.call.map({ $0 == call }) ?? call.isChange else { return false }
        number -= 1
        return number == 0 || (lasts && number < 0)
    }

    var isOver: Bool { number <= 0 && !lasts }
}
