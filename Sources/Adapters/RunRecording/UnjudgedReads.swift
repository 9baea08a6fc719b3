import GNSS
import Reporting
import TimeAndRandomness

/// The bytes from the receiver that are held back until it is known whether the vehicle was private when they were
/// read. Times are passed in, so this type has no clock.
///
/// The reads between two fixes are released if both fixes were reported and are close together in time. Otherwise the
/// vehicle may have been private in between. The reads around an epoch without a position are never released, because
/// the receiver may repeat an earlier position in that epoch.
struct UnjudgedReads: Sendable {
    /// The reads between two consecutive fixes.
    private struct Segment: Sendable {
        let timeOfFix: UTCTime
        let reads: [RecordedRead]
        /// Whether the two fixes are close together in time, and every epoch between them has a position.
        let isComplete: Bool
    }

    /// The maximum number of bytes between two fixes. If there are more, all reads are dropped.
    private static let maximumBytes = 1 << 16
    /// The maximum time between two fixes that are considered close together.
    private static let maximumGap = Duration.seconds(10)
    /// The maximum number of fixes that are waiting to be reported or withheld.
    private static let maximumSegments = 100

    private var mode: PrivateMode
    /// A decoder that only counts the epochs without a position.
    private var decoder = NMEADecoder()
    private var voidEpochs = 0
    /// The reads since the last fix.
    private var reads: [RecordedRead] = []
    private var byteCount = 0
    /// The time at which the last fix was made; `nil` if no fix has been made since reads were last dropped.
    private var lastFixMade: UTCTime?
    private var segments: [Segment] = []
    /// Whether the fix before the first segment was reported, and no reads have been dropped since.
    private(set) var isKnownPublic = false
    /// Whether the first read of the next segment may also contain bytes of a segment that wasn't released.
    private var isFirstReadInDoubt = true

    init(zones: [PrivateZone]) { mode = PrivateMode(zones: zones) }

    mutating func recordOpening() {
        dropAll()
        decoder = NMEADecoder()
        voidEpochs = 0
    }

    mutating func add(_ read: RecordedRead) {
        if byteCount + read.bytes.count > Self.maximumBytes { dropAll() }
        byteCount += read.bytes.count
        reads.append(read)
        decoder.decode(read.bytes.span, receivedAt: .milliseconds(read.time.millisecondsSince1970)) { _ in }
    }

    mutating func recordFix(_ fix: Fix, at now: UTCTime) {
        guard mode.mayDisclose(fix), segments.count < Self.maximumSegments else { return dropAll() }
        // The read that completed this fix may also contain the start of the next epoch, so it is kept for the next
        // segment.
        let count = max(0, reads.count - 1)
        let isClose = lastFixMade.map { (.zero...Self.maximumGap).contains($0.duration(to: now)) } ?? false
        let isComplete = isClose && decoder.statistics.epochs.void == voidEpochs
        segments.append(
            Segment(timeOfFix: fix.timeOfFix, reads: Array(reads.prefix(count)), isComplete: isComplete))
        reads.removeFirst(count)
        byteCount = reads.reduce(0) { $0 + $1.bytes.count }
        lastFixMade = now
        voidEpochs = decoder.statistics.epochs.void
    }

    /// Drops all reads, because the vehicle may be private.
    mutating func dropAll() {
        reads = []
        byteCount = 0
        lastFixMade = nil
        segments = []
        isKnownPublic = false
        isFirstReadInDoubt = true
    }

    /// Returns the reads of every segment up to `fix`, which has been reported. A segment in which the vehicle may have
    /// been private is returned as `nil`.
    mutating func release(until fix: Fix) -> [[RecordedRead]?] {
        guard let index = segments.lastIndex(where: { $0.timeOfFix == fix.timeOfFix }) else { return [] }
        let released = segments[...index].map { release($0) }
        segments.removeFirst(index + 1)
        return released
    }

    private mutating func release(_ segment: Segment) -> [RecordedRead]? {
        let isPublic = isKnownPublic && segment.isComplete
        let reads = segment.reads.dropFirst(isFirstReadInDoubt ? 1 : 0)
        isKnownPublic = true
        guard isPublic else {
            isFirstReadInDoubt = true
            return nil
        }
        if !segment.reads.isEmpty { isFirstReadInDoubt = false }
        return Array(reads)
    }
}
