/// Bytes of a receiver to fixes: the scanner and the epoch assembler behind one door.
///
/// Feed it chunks of any size; the same bytes give the same fixes however they are cut.
package struct NMEADecoder: Sendable {
    package init() {}

    /// Takes the next bytes; `receivedAt` is monotonic time since any fixed moment and only serves the idle time-out.
    package mutating func decode(_ bytes: Span<UInt8>, receivedAt: Duration, _ emit: (Fix) -> Void) {}

    /// When, on the scale of `receivedAt`, a quiet line completes the epoch under way; `nil` when none is.
    package var idleDeadline: Duration? { nil }

    /// Tells that the line has been quiet until `now`; completes the epoch once its deadline has passed.
    package mutating func lineIsIdle(at now: Duration, _ emit: (Fix) -> Void) {}

    /// Tells that nothing more will come; completes the epoch under way.
    package mutating func finish(_ emit: (Fix) -> Void) {}
}
