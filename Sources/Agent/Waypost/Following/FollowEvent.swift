public import FleetEngine

/// What somebody who follows a trip or vehicle is told.
public enum FollowEvent: Sendable, Hashable {
    /// Something has changed since the sighting before: the first one, a position, a status, a distance.
    case changed(Sighting)
    /// Nothing has changed for so long, though an active vehicle reports at least once a minute.
    case silent(Duration)
    /// It cannot be read at present; says why. The same words are told once.
    case trouble(String)
    /// It can be read again.
    case recovered
}
