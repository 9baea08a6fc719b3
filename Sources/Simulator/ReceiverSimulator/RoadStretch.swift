import SeededChance

/// A straight with the bend at its end, and perhaps a traffic light before the bend.
struct RoadStretch: Sendable {
    /// Metres from the start of the drive.
    let start: Double
    let straightLength: Double
    /// Signed: positive turns to the right.
    let turnRadians: Double
    let radius: Double
    let limit: Double
    /// Seconds for which the light at the end of the straight stops the car; 0 for green.
    let redSeconds: Double

    /// Sideways acceleration that passengers do not mind, in metres per second squared.
    private static let sideways = 2.2

    init(start: Double, style: RoadStyle, _ random: inout SplitMix64) {
        self.start = start
        straightLength = random.uniform(style.straights)
        radius = random.uniform(style.radii)
        let turn = random.uniform(style.turns) * Angle.radiansPerDegree
        turnRadians = random.next() & 1 == 0 ? turn : -turn
        limit = style.limits[Int(random.next() % UInt64(style.limits.count))]
        let isRed = style.hasTrafficLights && random.uniform(0...1) < 0.45
        redSeconds = isRed ? random.uniform(6...38) : 0
    }

    var bendStart: Double { start + straightLength }
    /// Twice as long as a circle's arc: curvature grows and falls evenly, as on a built road.
    var bendLength: Double { 2 * radius * abs(turnRadians) }
    var end: Double { bendStart + bendLength }
    /// The speed at which the tightest point of the bend is comfortable.
    var bendSpeed: Double { min(limit, (Self.sideways * radius).squareRoot()) }
    /// Where the car stops at a red light.
    var stopLine: Double { bendStart - 4 }

    /// Change of heading a metre at `place`, in radians.
    func curvature(at place: Double) -> Double {
        guard place > bendStart, place < end else { return 0 }
        let part = (place - bendStart) / bendLength
        let triangle = part < 0.5 ? 2 * part : 2 - 2 * part
        return (turnRadians < 0 ? -1 : 1) * triangle / radius
    }
}
