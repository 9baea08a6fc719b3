/// What the roads of a situation are like.
struct RoadStyle: Sendable {
    /// Speed limits in metres per second; each stretch has one of them.
    let limits: [Double]
    /// Metres between two bends.
    let straights: ClosedRange<Double>
    /// Radii of bends in metres.
    let radii: ClosedRange<Double>
    /// How far a bend turns, in degrees.
    let turns: ClosedRange<Double>
    let hasTrafficLights: Bool
}
