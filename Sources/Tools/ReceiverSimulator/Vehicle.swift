import TimeAndRandomness

/// A simulated car on an endless generated road. It moves in steps of a tenth of a second.
struct Vehicle: Sendable {
    static let step = 0.1
    private static let acceleration = 1.7
    private static let deceleration = 2.0
    /// The length of the road ahead that the driver can see, in metres.
    private static let sightMeters = 600.0

    private let style: RoadStyle
    private let parkingTime: Double
    private var random: SplitMix64
    private var road: [RoadStretch] = []
    private var travelled = 0.0
    private var elapsed = 0.0
    /// The number of seconds for which the car still waits at a red light, or before it sets off.
    private var waitingSeconds = 8.0
    /// The last stop line at which the car has waited, so that it doesn't stop there again.
    private var passedStopLine = -1.0
    /// The acceleration in metres per second squared.
    private var currentAcceleration = 0.0

    /// The distance east of the start, in metres; negative to the west.
    private(set) var east = 0.0
    /// The distance north of the start, in metres; negative to the south.
    private(set) var north = 0.0
    /// The speed in metres per second.
    private(set) var speed = 0.0
    /// The heading in radians, clockwise from north.
    private(set) var heading: Double

    init(_ situation: DriveSituation, seed: UInt64) {
        style = situation.roadStyle
        parkingTime = situation.parkingTime
        random = SplitMix64(seed: seed)
        heading = random.uniform(0...(2 * Double.pi))
        if situation == .motorway || situation == .tunnel {
            speed = 22
            waitingSeconds = 0
        }
        extendRoad()
    }

    /// Whether the car has stopped and stays parked until the drive ends.
    var isParked: Bool { elapsed > parkingTime && speed == 0 }

    mutating func advance() {
        elapsed += Self.step
        if waitingSeconds > 0 {
            waitingSeconds -= Self.step
            return
        }
        if isParked { return }
        extendRoad()
        let wanted = targetSpeed()
        let wantedAcceleration = max(-2.6, min(Self.acceleration, (wanted - speed) / 0.6))
        // The acceleration approaches the wanted acceleration over about half a second, so that there is no jolt.
        currentAcceleration += (wantedAcceleration - currentAcceleration) * 0.2
        speed = max(0, speed + currentAcceleration * Self.step)
        if wanted == 0, speed < 0.4 { stop() }
        let distance = speed * Self.step
        travelled += distance
        heading += (road.first?.curvature(at: travelled) ?? 0) * distance
        east += Angle.sine(heading) * distance
        north += Angle.cosine(heading) * distance
    }

    private mutating func stop() {
        speed = 0
        currentAcceleration = 0
        guard let light = nextStretchWithRedLight() else { return }
        passedStopLine = light.stopLine
        waitingSeconds = light.redSeconds
    }

    private func nextStretchWithRedLight() -> RoadStretch? {
        road.first { $0.redSeconds > 0 && $0.stopLine > passedStopLine && $0.stopLine > travelled - 3 }
    }

    /// Returns the maximum speed from which the car can still slow down in time for every speed limit, bend and red
    /// light in sight.
    private func targetSpeed() -> Double {
        if elapsed > parkingTime { return 0 }
        var wanted = road.first?.speedLimit ?? 0
        for stretch in road {
            wanted = min(wanted, maximumSpeed(slowingTo: stretch.speedLimit, within: stretch.start - travelled))
            if stretch.end > travelled {
                wanted = min(wanted, maximumSpeed(slowingTo: stretch.bendSpeed, within: stretch.bendStart - travelled))
            }
        }
        if let light = nextStretchWithRedLight() {
            let distance = light.stopLine - travelled
            wanted = distance < 0.5 ? 0 : min(wanted, maximumSpeed(slowingTo: 0, within: distance))
            if wanted < 0.4 { wanted = 0 }
        }
        return wanted
    }

    private func maximumSpeed(slowingTo target: Double, within distance: Double) -> Double {
        (target * target + 2 * Self.deceleration * max(0, distance)).squareRoot()
    }

    private mutating func extendRoad() {
        while let first = road.first, first.end <= travelled { road.removeFirst() }
        while (road.last?.end ?? -1) < travelled + Self.sightMeters {
            road.append(RoadStretch(start: road.last?.end ?? 0, style: style, &random))
        }
    }
}

/// A part of the road: a straight, perhaps with a traffic light at its end, followed by a bend.
struct RoadStretch: Sendable {
    /// The distance along the road from the start of the drive to the start of this stretch, in metres.
    let start: Double
    private let straightLength: Double
    /// The angle by which the bend turns; positive to the right.
    private let turnRadians: Double
    let radius: Double
    let speedLimit: Double
    /// The number of seconds for which the traffic light stops the car; 0 if the light is green or there is none.
    let redSeconds: Double

    /// The maximum comfortable lateral acceleration, in metres per second squared.
    private static let lateralAcceleration = 2.2

    init(start: Double, style: RoadStyle, _ random: inout SplitMix64) {
        self.start = start
        straightLength = random.uniform(style.straightLengths)
        radius = random.uniform(style.bendRadii)
        let turn = random.uniform(style.bendDegrees) * Angle.radiansPerDegree
        turnRadians = random.next() & 1 == 0 ? turn : -turn
        speedLimit = style.speedLimits[Int(random.next() % UInt64(style.speedLimits.count))]
        let isRed = style.hasTrafficLights && random.uniform(0...1) < 0.45
        redSeconds = isRed ? random.uniform(6...38) : 0
    }

    var bendStart: Double { start + straightLength }
    /// The length of the bend in metres. It is twice the length of a circular arc, because the curvature grows and
    /// falls evenly, as on real roads.
    private var bendLength: Double { 2 * radius * abs(turnRadians) }
    var end: Double { bendStart + bendLength }
    /// The speed at which even the tightest point of the bend is comfortable, limited to the speed limit.
    var bendSpeed: Double { min(speedLimit, (Self.lateralAcceleration * radius).squareRoot()) }
    /// The distance along the road from the start of the drive to the point at which the car stops for a red light.
    var stopLine: Double { bendStart - 4 }

    /// Returns the change of heading in radians per metre, at `distance` metres from the start of the drive.
    func curvature(at distance: Double) -> Double {
        guard distance > bendStart, distance < end else { return 0 }
        let part = (distance - bendStart) / bendLength
        let triangle = part < 0.5 ? 2 * part : 2 - 2 * part
        return (turnRadians < 0 ? -1 : 1) * triangle / radius
    }
}

/// The properties of the roads for one kind of drive.
struct RoadStyle: Sendable {
    /// The speed limits in metres per second. Each stretch has a random one of these limits.
    let speedLimits: [Double]
    /// The range of distances between bends, in metres.
    let straightLengths: ClosedRange<Double>
    /// The range of radii of bends, in metres.
    let bendRadii: ClosedRange<Double>
    /// The range of angles of bends, in degrees.
    let bendDegrees: ClosedRange<Double>
    let hasTrafficLights: Bool
}

/// Sine and cosine, computed with a polynomial. The results of the C library's functions differ in the last bit between
/// machines.
enum Angle {
    static let radiansPerDegree = Double.pi / 180

    static func sine(_ radians: Double) -> Double {
        // The nearest multiple of a half turn is subtracted from the angle, so that the power series converges fast.
        let halfTurns = (radians / Double.pi).rounded()
        let x = radians - halfTurns * Double.pi
        let square = x * x
        var term = x
        var sum = x
        for step in 1...11 {
            let n = Double(2 * step)
            term *= -square / (n * (n + 1))
            sum += term
        }
        return halfTurns.truncatingRemainder(dividingBy: 2) == 0 ? sum : -sum
    }

    static func cosine(_ radians: Double) -> Double { sine(radians + Double.pi / 2) }
}

extension SplitMix64 {
    /// Returns an approximately normal value with mean 0 and standard deviation 1. The sum of twelve uniform values is
    /// used, because it needs no logarithm.
    mutating func normal() -> Double {
        var sum = -6.0
        for _ in 0..<12 { sum += uniform(0...1) }
        return sum
    }
}
