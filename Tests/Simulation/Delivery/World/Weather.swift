/// The kinds of fault that a world has, and the times at which they occur.
///
/// Each kind has its own dice and draws at every occasion, so that excluding one doesn't affect the others.
struct Weather {
    private struct Fault {
        let isPresent: Bool
        let probability: Double
        var dice: Dice
        /// The start and end of the current or next spell.
        var spell: Range<Duration>
        let pause: ClosedRange<Double>
        let length: ClosedRange<Double>
        /// The number of strikes, or of spells that had an effect.
        var count = 0
        var lastCountedStart: Duration?

        mutating func drawSpell(after time: Duration) {
            let begin = time + dice.skewedSeconds(pause)
            spell = begin..<(begin + .milliseconds(1) + dice.skewedSeconds(length))
        }
    }

    private var faults: [Fault]
    /// The time from which no fault occurs.
    let end: Duration

    init(_ scenario: Scenario) {
        var climate = Dice(seed: scenario.seed, stream: .climate)
        end = .milliseconds(Int64(scenario.hours * 3_600_000))
        faults = FaultKind.allCases.enumerated().map { index, kind in
            let isDrawn = climate.chance(0.5)
            let isPresent = isDrawn && !scenario.excludedFaults.contains(kind)
            let dice = Dice(seed: scenario.seed &+ UInt64(index) << 40, stream: .weather)
            var fault: Fault
            switch kind.shape {
            case .strike(let range):
                fault = Fault(
                    isPresent: isPresent, probability: climate.skewed(range), dice: dice, spell: .zero..<(.zero),
                    pause: 0...0, length: 0...0)
            case .spell(let hours, let seconds):
                let mean = climate.uniform(hours) * 3600
                let length = seconds.lowerBound...climate.uniform(seconds)
                fault = Fault(
                    isPresent: isPresent, probability: 0, dice: dice, spell: .zero..<(.zero),
                    pause: mean / 4...mean * 2,
                    length: length)
                fault.drawSpell(after: .zero)
            case .trait:
                fault = Fault(
                    isPresent: isPresent, probability: 0, dice: dice, spell: .zero..<(.zero), pause: 0...0,
                    length: 0...0)
            }
            return fault
        }
    }

    var kinds: [FaultKind] { FaultKind.allCases.enumerated().filter { faults[$0.offset].isPresent }.map(\.element) }

    /// The number of occurrences by kind; a trait counts once.
    var counts: [Int] {
        FaultKind.allCases.map { kind in
            if case .trait = kind.shape { faults[kind.rawValue].isPresent ? 1 : 0 } else { faults[kind.rawValue].count }
        }
    }

    /// Whether the world has this trait.
    func has(_ kind: FaultKind, at now: Duration = .zero) -> Bool { faults[kind.rawValue].isPresent && now < end }

    /// Whether the fault occurs at this occasion.
    mutating func strikes(_ kind: FaultKind, at now: Duration) -> Bool {
        let index = kind.rawValue
        let falls = faults[index].dice.chance(faults[index].probability)
        guard falls, faults[index].isPresent, now < end else { return false }
        faults[index].count += 1
        return true
    }

    /// Returns the current spell; `nil` if there is none.
    mutating func currentSpell(_ kind: FaultKind, at now: Duration) -> Range<Duration>? {
        let spell = nextSpell(kind, after: now)
        guard let spell, spell.lowerBound <= now else { return nil }
        if faults[kind.rawValue].lastCountedStart != spell.lowerBound {
            faults[kind.rawValue].lastCountedStart = spell.lowerBound
            faults[kind.rawValue].count += 1
        }
        return spell
    }

    /// Returns the current or next spell; `nil` if there will be none.
    mutating func nextSpell(_ kind: FaultKind, after now: Duration) -> Range<Duration>? {
        let index = kind.rawValue
        guard faults[index].isPresent, now < end else { return nil }
        while faults[index].spell.upperBound <= now { faults[index].drawSpell(after: faults[index].spell.upperBound) }
        let spell = faults[index].spell
        guard spell.lowerBound < end else { return nil }
        return spell.lowerBound..<min(spell.upperBound, end)
    }
}
