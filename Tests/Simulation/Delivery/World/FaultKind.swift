/// A kind of fault in the simulated world. Each can be excluded, so that a failing run can be shrunk.
enum FaultKind: Int, CaseIterable, Sendable, Comparable {
    // Power
    case powerCut, termination, kill
    // Receiver
    case noise, garbage, wrongDate, clockSetBack, gap, pauseInEpoch, jump, unplugged
    // Network
    case slowNetwork, lostRequest, lostAnswer, reset, outage, silentOutage, halfOpen, captivePortal
    // Fleet Engine
    case serverError, tooManyRequests, refusedUpdate, smallRequestsOnly, missingVehicle, refusedToken
    // Token backend
    case issuerError, issuerBusy, slowIssuer, shortTokens, wrongVehicle, expiredToken, opaqueToken
    // Disk
    case fullDisk, diskError, smallStore
    // Scheduling
    case disorder
    // Operators
    case privateTime, reload
    // Connections
    case slowAnswer, drainedBackend, deadFamily
    // Other programs
    case lockedOutbox

    /// The name for the option `--without`.
    var name: String { "\(self)" }

    static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

    /// The way in which a fault occurs.
    enum Shape: Sendable {
        /// The fault occurs once, with this probability at each occasion.
        case strike(ClosedRange<Double>)
        /// The fault lasts for `seconds` each time, with `hoursBetween` from its end to its next start.
        case spell(hoursBetween: ClosedRange<Double>, seconds: ClosedRange<Double>)
        /// The fault is permanent in a world that has it.
        case trait
    }

    var shape: Shape {
        switch self {
        case .powerCut, .termination, .kill: .strike(0.1...0.9)
        case .noise: .strike(0.0005...0.02)
        case .garbage: .strike(0.0001...0.002)
        case .wrongDate: .strike(0.0001...0.003)
        case .clockSetBack: .strike(0.00002...0.0003)
        case .pauseInEpoch: .strike(0.001...0.02)
        case .jump: .strike(0.0005...0.005)
        case .gap: .spell(hoursBetween: 0.1...3, seconds: 2...300)
        case .unplugged: .spell(hoursBetween: 1...8, seconds: 5...3600)
        case .slowNetwork: .spell(hoursBetween: 0.2...4, seconds: 30...1800)
        case .lostRequest, .lostAnswer, .reset: .strike(0.002...0.1)
        case .outage: .spell(hoursBetween: 0.2...6, seconds: 3...20_000)
        case .silentOutage: .spell(hoursBetween: 0.3...6, seconds: 3...40_000)
        case .halfOpen: .strike(0.2...1)
        case .captivePortal: .spell(hoursBetween: 1...8, seconds: 10...1200)
        case .serverError: .spell(hoursBetween: 0.2...5, seconds: 1...900)
        case .tooManyRequests: .strike(0.001...0.03)
        case .refusedUpdate: .strike(0.0005...0.01)
        case .smallRequestsOnly: .trait
        case .missingVehicle: .spell(hoursBetween: 2...12, seconds: 10...900)
        case .refusedToken: .strike(0.001...0.03)
        case .issuerError: .strike(0.01...0.5)
        case .issuerBusy: .strike(0.01...0.2)
        case .slowIssuer: .strike(0.01...0.5)
        case .shortTokens: .trait
        case .wrongVehicle: .strike(0.01...0.2)
        case .expiredToken: .strike(0.01...0.2)
        case .opaqueToken: .strike(0.05...0.5)
        case .fullDisk: .spell(hoursBetween: 0.5...8, seconds: 5...3600)
        case .diskError: .strike(0.00005...0.005)
        case .smallStore: .trait
        case .disorder: .trait
        case .privateTime: .spell(hoursBetween: 0.5...6, seconds: 2...7200)
        case .reload: .spell(hoursBetween: 0.1...4, seconds: 1...1)
        case .slowAnswer: .spell(hoursBetween: 0.5...6, seconds: 60...3600)
        case .drainedBackend: .strike(0.001...0.02)
        case .deadFamily: .spell(hoursBetween: 0.5...6, seconds: 60...7200)
        case .lockedOutbox: .spell(hoursBetween: 0.5...8, seconds: 5...1800)
        }
    }
}
