import GNSS
import Reporting
import StrictJSON
import TimeAndRandomness

/// The selection of updates that can be removed from a backlog. The others still show where the vehicle was and when,
/// by the rules of `TrackSimplification`.
/// The ends of drives are always kept, and so are the first and the last update of each stop. For each leg between two
/// stops, the fastest and the slowest update are kept.
enum TrackThinning {
    /// Returns the indices of the updates to keep: the first, the last, the landmarks, those in `fixed`, and as many
    /// others as the tolerance requires. `tolerance` is in metres.
    static func keptIndices(of updates: [LocationUpdate], tolerance: Double, fixed: Set<Int> = []) -> [Int] {
        guard !updates.isEmpty else { return [] }
        let marks = landmarks(of: updates).union(fixed).sorted()
        return [0]
            + zip(marks, marks.dropFirst()).flatMap { start, end in
                TrackSimplification.keptIndices(of: updates[start...end].map(\.place), tolerance: tolerance).dropFirst()
                    .map { start + $0 }
            }
    }

    /// Returns the indices of the updates that are kept at any tolerance.
    static func landmarks(of updates: [LocationUpdate]) -> Set<Int> {
        var landmarks: Set<Int> = [0, updates.count - 1]
        let standing = standstills(in: updates)
        var start = 0
        for index in updates.indices {
            let isLast = index == updates.count - 1
            if isLast || isInterrupted(between: updates[index], and: updates[index + 1])
                || standing[index] != standing[index + 1]
            {
                landmarks.formUnion(runLandmarks(start...index, isStanding: standing[index], in: updates))
                start = index + 1
            }
        }
        return landmarks
    }

    /// Returns the landmarks of one run of updates, which is a stop or a leg between two stops. For a stop, these are
    /// its first and its last update. For a leg, they are its fastest and its slowest update, and an end at which the
    /// drive is interrupted.
    private static func runLandmarks(
        _ run: ClosedRange<Int>, isStanding: Bool, in updates: [LocationUpdate]
    ) -> Set<Int> {
        if isStanding { return [run.lowerBound, run.upperBound] }
        var marks: Set<Int> = []
        if run.lowerBound > 0, isInterrupted(between: updates[run.lowerBound - 1], and: updates[run.lowerBound]) {
            marks.insert(run.lowerBound)
        }
        if run.upperBound < updates.count - 1,
            isInterrupted(between: updates[run.upperBound], and: updates[run.upperBound + 1])
        {
            marks.insert(run.upperBound)
        }
        let speeds = run.compactMap { index in updates[index].speedMetersPerSecond.map { (index, $0) } }
        if let fastest = speeds.max(by: { ($0.1, $1.0) < ($1.1, $0.0) }) { marks.insert(fastest.0) }
        if let slowest = speeds.min(by: { ($0.1, $0.0) < ($1.1, $1.0) }) { marks.insert(slowest.0) }
        return marks
    }

    private static func isInterrupted(between one: LocationUpdate, and next: LocationUpdate) -> Bool {
        let span = one.timeOfFix.duration(to: next.timeOfFix)
        return span <= .zero || span > TrackSimplification.maximumSpan
    }

    /// Returns for each update whether the vehicle was at a standstill. If an update has no speed, as a shape point has
    /// none, the state of the previous one is used.
    private static func standstills(in updates: [LocationUpdate]) -> [Bool] {
        var isStanding = false
        return updates.map { update in
            if let speed = update.speedMetersPerSecond { isStanding = speed < Motion.standingSpeed }
            return isStanding
        }
    }
}

/// A pass over the backlog that thins it. Each step is coarser than the previous one.
enum ThinningStep: Int, Sendable, Hashable, CaseIterable {
    case first, second, third, fourth, fifth

    /// The maximum error of the track, in metres, after this step and all previous ones.
    var bound: Double { [10, 25, 50, 100, 250][rawValue] }

    /// The error in metres that this step may add to the error of the previous steps. Errors can simply be added,
    /// because the tracks are polylines, and two polylines are farthest apart at a vertex of one of them.
    var tolerance: Double { bound - (previous?.bound ?? 0) }

    var previous: Self? { Self(rawValue: rawValue - 1) }
}

/// The progress of each thinning step through the backlog. It is stored in the ledger's row.
struct ThinningProgress: Sendable, Hashable {
    /// The sequence number up to which each step has thinned the rows. This is the number of a block's last row, which
    /// is always kept because the next block begins with it.
    private var fronts = [Int64](repeating: 0, count: ThinningStep.allCases.count)

    func front(of step: ThinningStep) -> Int64 { fronts[step.rawValue] }

    mutating func advance(_ step: ThinningStep, to sequence: Int64) { fronts[step.rawValue] = sequence }

    /// Returns the range of sequence numbers that `step` may thin. A step never overtakes the previous one, because
    /// each step's error is added to the previous step's error.
    func range(of step: ThinningStep) -> ClosedRange<Int64> {
        let end = step.previous.map(front) ?? .max
        return min(front(of: step), end)...end
    }

    init() {}

    /// The fronts as JSON, in the order of the steps; `nil` if nothing has been thinned.
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
