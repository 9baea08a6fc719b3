/// One of the passes in which a backlog is thinned, each coarser than the one before.
enum ThinningStep: Int, Sendable, Hashable, CaseIterable {
    case first, second, third, fourth, fifth

    /// What is left tells the place of all that was there to within so many metres, after this step and those before.
    var bound: Double {
        switch self {
        case .first: 10
        case .second: 25
        case .third: 50
        case .fourth: 100
        case .fifth: 250
        }
    }

    /// What this step may add: errors of steps add up, because the ways through the updates that stay are straight from
    /// one to the next, and two such ways are farthest apart where one of them bends.
    var tolerance: Double { bound - (previous?.bound ?? 0) }

    var previous: Self? { Self(rawValue: rawValue - 1) }
}
