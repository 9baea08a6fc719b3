/// Whether a process still lives, and its machine has power: what a dead one does has no effect.
///
/// `@unchecked Sendable`: used by the thread of its simulation only.
final class ProcessLife: @unchecked Sendable {
    var isAlive = true
}
