import FleetEngine

/// What the private times of a vehicle leave to be sent. Pure.
///
/// To repeat a position is to say that the vehicle is still there: of a private one that is not said.
enum UploadPrivacy: Sendable, Hashable {
    /// Everything is told.
    case open
    /// Whether the vehicle is private, nobody knows before the first fix of it.
    case unknown
    /// What it is with the uploader whose place this one takes.
    case asBefore
    /// `owesOffline`: Fleet Engine has not heard yet that it is offline.
    case inForce(owesOffline: Bool)
    /// The private time is over, and no position has come since.
    case over

    /// Whether the vehicle is private.
    var isInForce: Bool { if case .inForce = self { true } else { false } }

    /// Whether Fleet Engine is to hear first that the vehicle is offline.
    var owesOffline: Bool { self == .inForce(owesOffline: true) }

    /// What updates say of an on-demand vehicle whose state is `state` otherwise; nothing where that is not known.
    func vehicleState(_ state: VehicleState?) -> VehicleState? {
        switch self {
        case .open, .over: state
        case .unknown, .asBefore: nil
        case .inForce: state.map { _ in .offline }
        }
    }

    /// Whether `batch` may go out; `isLast`: no position comes any more that could lead it.
    func allows(_ batch: UploadBatch, isLast: Bool) -> Bool {
        self == .open || batch.lastIsPending || allowsBacklog(isLast: isLast) && !batch.pending.isEmpty
    }

    /// Whether older updates may go out behind a repetition.
    func allowsBacklog(isLast: Bool) -> Bool { self == .open || self == .over || isLast }

    /// Notes that a private time is over; `mayBePrivate`: the vehicle may be in a private zone all the same.
    mutating func end(mayBePrivate: Bool) { self = mayBePrivate ? .unknown : .over }

    /// Notes that a newer position is there.
    mutating func takeNewer() { if !isInForce, self != .asBefore { self = .open } }

    /// Notes whether there are private zones, which were changed: the vehicle may be in one of them.
    mutating func changeZones(areThere: Bool) {
        switch self {
        case .open, .over: if areThere { self = .unknown }
        case .unknown: if !areThere { self = .open }
        case .asBefore, .inForce: break
        }
    }

    /// Notes where the uploader ended whose place this one takes; `hasNewer`: a position has come since. `isHeard`: it
    /// spoke to the same Fleet Engine.
    mutating func succeed(_ former: Self, hasNewer: Bool, isHeard: Bool) {
        if self == .asBefore {
            self = former
            if hasNewer { takeNewer() }
        }
        // Another Fleet Engine has not heard of it.
        if isInForce, !isHeard { self = .inForce(owesOffline: true) }
    }
}
