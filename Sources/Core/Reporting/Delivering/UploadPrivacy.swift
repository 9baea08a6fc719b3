/// What the private times of a vehicle leave to be sent. Pure.
///
/// To repeat a position is to say that the vehicle is still there: of a private one that is not said.
enum UploadPrivacy: Sendable, Hashable {
    /// Everything is told.
    case open
    /// Whether the vehicle is private, nobody knows before the first fix of it.
    case unknown
    /// `owesOffline`: the service has not heard yet that it is offline.
    case inForce(owesOffline: Bool)
    /// The private time is over, and no position has come since.
    case over

    /// Whether the vehicle is private.
    var isInForce: Bool { if case .inForce = self { true } else { false } }

    /// Whether the service must hear first that the vehicle is offline.
    var owesOffline: Bool { self == .inForce(owesOffline: true) }

    /// The presence that goes with an update of a vehicle that is `running` otherwise.
    func presence(_ running: Presence) -> Presence {
        switch self {
        case .open, .over: running
        case .unknown: .unknown
        case .inForce: .offline
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
    mutating func takeNewer() { if !isInForce { self = .open } }
}
