/// The rule for which uploads private mode permits. This type does no I/O.
///
/// Repeating a position would disclose that the vehicle is still there, so a private vehicle sends only updates that
/// were already pending.
enum UploadPrivacy: Sendable, Hashable {
    case off
    /// The vehicle may be in a private zone. Its next fix will decide.
    case unknown
    /// Private mode is on. `isOfflinePending` says whether the service has yet to acknowledge that the vehicle is
    /// offline.
    case on(isOfflinePending: Bool)
    /// Private mode has ended, but there is no newer position yet.
    case ended

    /// Whether private mode is on.
    private var isOn: Bool { if case .on = self { true } else { false } }

    /// Whether the vehicle must be reported as offline before anything else is sent.
    var isOfflinePending: Bool { self == .on(isOfflinePending: true) }

    /// Returns the presence to send with an update. `running` is the presence of a vehicle that isn't private.
    func presence(whenNotPrivate running: Presence) -> Presence {
        switch self {
        case .off, .ended: running
        case .unknown: .unknown
        case .on: .offline
        }
    }

    /// Whether `batch` may be sent. `isLast` says that the source has ended, so that no newer position can arrive and
    /// lead the batch instead.
    func allows(_ batch: UploadBatch, isLast: Bool) -> Bool {
        self == .off || batch.lastIsPending || allowsBacklog(isLast: isLast) && !batch.pending.isEmpty
    }

    /// Whether older updates may be sent in a batch that is led by a repeated position.
    func allowsBacklog(isLast: Bool) -> Bool { self == .off || self == .ended || isLast }

    /// Records that private mode has ended. `mayBePrivate` says whether the vehicle may still be in a private zone.
    mutating func endPrivateMode(mayBePrivate: Bool) { self = mayBePrivate ? .unknown : .ended }

    /// Records that there is a newer position. This ends every state except `on`.
    mutating func recordNewerPosition() { if !isOn { self = .off } }
}
