import LocationReporting

/// An update that is accepted and waits for the commit of its window; its sequence follows from its place.
struct GatheredUpdate: Sendable, Hashable {
    let update: LocationUpdate
    /// Whether it is the newest whatever its time.
    let overrulesEarlier: Bool
}
