/// The source of random jitter for one process.
///
/// `@unchecked Sendable` is safe because only the simulation's thread uses the object.
final class JitterDice: @unchecked Sendable {
    private var dice: Dice

    init(seed: UInt64) { dice = Dice(seed: seed, stream: .jitter) }

    /// Draws from 0...1.
    func draw() -> Double { dice.unit() }
}
