import GNSS

/// Decides which fixes a map is made for: between two jumps there must be three, or they are wild and would only make
/// the rest too small to see.
struct SteadyFixes: Sendable {
    /// How many fixes must agree.
    private static let quorum = 3

    private var held: [(fix: Fix, beginsPiece: Bool)] = []
    private var isSteady = false
    private var isFirst = true

    /// Takes the next fix, which follows the one before by `step`; hands on what is steady now.
    mutating func take(_ fix: Fix, _ step: TrackContinuity.Step, _ emit: (Fix, _ beginsPiece: Bool) -> Void) {
        var beginsPiece = false
        if case .broken(let place) = step {
            beginsPiece = true
            if place.cause == .jump {
                held.removeAll()
                isSteady = false
            }
        }
        if !isSteady {
            held.append((fix, beginsPiece || held.isEmpty))
            guard held.count >= Self.quorum else { return }
            isSteady = true
            release(emit)
        } else {
            emit(fix, beginsPiece)
        }
    }

    /// Tells that nothing more comes: where nothing has been handed on, the last ones are better than nothing.
    mutating func finish(_ emit: (Fix, _ beginsPiece: Bool) -> Void) {
        if isFirst { release(emit) }
    }

    private mutating func release(_ emit: (Fix, Bool) -> Void) {
        isFirst = false
        for one in held { emit(one.fix, one.beginsPiece) }
        held.removeAll()
    }
}
