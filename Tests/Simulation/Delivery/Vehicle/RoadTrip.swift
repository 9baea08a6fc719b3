/// The position and motion of the vehicle on a random route through a town. It is cheap to compute, and the same on
/// every machine.
struct RoadTrip {
    /// The latitude and the longitude in degrees.
    private(set) var latitude = 53.55
    private(set) var longitude = 10.0
    /// The speed in metres per second.
    private(set) var speed = 0.0
    /// The course in whole degrees from north.
    private(set) var course = 0
    private var dice: Dice
    private var targetSpeed = 0.0
    private var turn = 0
    private var secondsToChange = 0.0

    private static let metersPerDegree = 111_319.49
    /// The cosine of the town's latitude.
    private static let cosine = 0.594

    init(seed: UInt64) { dice = Dice(seed: seed, stream: .road) }

    /// Moves the vehicle for `seconds`. If it isn't driving, it brakes to a stop.
    mutating func advance(_ seconds: Double, isDriving: Bool) {
        if !isDriving, speed == 0 { return }
        secondsToChange -= seconds
        if secondsToChange <= 0 {
            secondsToChange = dice.uniform(5...40)
            targetSpeed = dice.chance(0.25) ? 0 : dice.uniform(5...33)
            turn = dice.chance(0.5) ? 0 : dice.below(21) - 10
        }
        let wanted = isDriving ? targetSpeed : 0
        let change = max(-2.5 * seconds, min(1.8 * seconds, wanted - speed))
        speed = max(0, speed + change)
        if speed == 0 { return }
        course = (course + turn + 360) % 360
        let step = min(speed * seconds, 40)
        let (sine, cosine) = Self.directions[course]
        latitude += step * cosine / Self.metersPerDegree
        longitude += step * sine / (Self.metersPerDegree * Self.cosine)
    }

    /// Sine and cosine of whole degrees, computed by rotation because the C library's results differ between machines.
    private static let directions: [(sine: Double, cosine: Double)] = {
        var pointer = (sine: 0.0, cosine: 1.0)
        return (0..<360).map { _ in
            defer {
                let (sine, cosine) = (0.017_452_406_437_283_51, 0.999_847_695_156_391_3)
                pointer = (
                    pointer.sine * cosine + pointer.cosine * sine, pointer.cosine * cosine - pointer.sine * sine
                )
            }
            return pointer
        }
    }()
}
