import GNSS
import Reporting
import StrictJSON
import TimeAndChance

/// Decides which updates of a backlog may go while the others still say where the vehicle was, and when, as
/// `TrackSimplification` has it.
///
/// What stays always: the ends of drives, the first and last update of each stop, the fastest and the slowest of
/// each leg between.
enum TrackThinning {
    /// The indices that stay, first and last among them, those of `fixed` too; `tolerance` in metres.
    static func kept(of updates: [LocationUpdate], tolerance: Double, fixed: Set<Int> = []) -> [Int] {
        guard !updates.isEmpty else { return [] }
        let marks = landmarks(of: updates).union(fixed).sorted()
        return [0]
            + zip(marks, marks.dropFirst()).flatMap { start, end in
                TrackSimplification.kept(of: updates[start...end].map(\.place), tolerance: tolerance).dropFirst()
                    .map { start + $0 }
            }
    }

    /// The indices that stay whatever the tolerance.
    static func landmarks(of updates: [LocationUpdate]) -> Set<Int> {
        var landmarks: Set<Int> = [0, updates.count - 1]
        let standing = standing(updates)
        var start = 0
        for index in updates.indices {
            let isLast = index == updates.count - 1
            if isLast || isBreak(updates[index], updates[index + 1]) || standing[index] != standing[index + 1] {
                landmarks.formUnion(marks(ofRun: start...index, isStanding: standing[index], updates))
                start = index + 1
            }
        }
        return landmarks
    }

    /// Of a stop, or of a drive's leg between two: beginning and end belong to a stop, and to a drive where it breaks.
    private static func marks(
        ofRun run: ClosedRange<Int>, isStanding: Bool, _ updates: [LocationUpdate]
    ) -> Set<Int> {
        if isStanding { return [run.lowerBound, run.upperBound] }
        var marks: Set<Int> = []
        if run.lowerBound > 0, isBreak(updates[run.lowerBound - 1], updates[run.lowerBound]) {
            marks.insert(run.lowerBound)
        }
        if run.upperBound < updates.count - 1, isBreak(updates[run.upperBound], updates[run.upperBound + 1]) {
            marks.insert(run.upperBound)
        }
        let speeds = run.compactMap { index in updates[index].speedMetersPerSecond.map { (index, $0) } }
        if let fastest = speeds.max(by: { ($0.1, $1.0) < ($1.1, $0.0) }) { marks.insert(fastest.0) }
        if let slowest = speeds.min(by: { ($0.1, $0.0) < ($1.1, $1.0) }) { marks.insert(slowest.0) }
        return marks
    }

    private static func isBreak(_ one: LocationUpdate, _ next: LocationUpdate) -> Bool {
        let span = one.timeOfFix.duration(to: next.timeOfFix)
        return span <= .zero || span > TrackSimplification.maximumSpan
    }

    /// Whether the vehicle stood at each; an update without speed, as a shape point is, belongs to the run before it.
    private static func standing(_ updates: [LocationUpdate]) -> [Bool] {
        var isStanding = false
        return updates.map { update in
            if let speed = update.speedMetersPerSecond { isStanding = speed < Motion.standingSpeed }
            return isStanding
        }
    }
}

/// One of the passes in which a backlog is thinned, each coarser than the one before.
enum ThinningStep: Int, Sendable, Hashable, CaseIterable {
    case first, second, third, fourth, fifth

    /// What is left says where everything was to within so many metres, after this step and those before.
    var bound: Double { [10, 25, 50, 100, 250][rawValue] }

    /// What this step may add: errors of steps add up, because the ways through the updates that stay are straight from
    /// one to the next, and two such ways are farthest apart where one of them bends.
    var tolerance: Double { bound - (previous?.bound ?? 0) }

    var previous: Self? { Self(rawValue: rawValue - 1) }
}

/// How far each step has come through the backlog; part of the ledger's row.
struct ThinningProgress: Sendable, Hashable {
    /// By step: rows up to this sequence have been thinned by it. It is the last row of a block, and stays until the
    /// next block begins with it.
    private var fronts = [Int64](repeating: 0, count: ThinningStep.allCases.count)

    func front(of step: ThinningStep) -> Int64 { fronts[step.rawValue] }

    mutating func advance(_ step: ThinningStep, to sequence: Int64) { fronts[step.rawValue] = sequence }

    /// The sequences that `step` may look at: a step follows the one before, so that their bounds add up.
    func range(of step: ThinningStep) -> ClosedRange<Int64> {
        let end = step.previous.map(front) ?? .max
        return min(front(of: step), end)...end
    }

    init() {}

    /// The fronts in the order of the steps; `nil` before the first.
    var json: JSONValue? {
        fronts.allSatisfy { $0 == 0 } ? nil : .array(fronts.map { .integer($0) })
    }

    init?(_ json: JSONValue?) {
        guard let json else { return }
        let found = json.arrayValue?.compactMap(\.count) ?? []
        guard found.count == fronts.count else { return nil }
        fronts = found
    }
}
