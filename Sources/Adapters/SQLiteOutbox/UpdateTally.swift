package import GNSS

/// How many updates met one fate, and from which time.
package struct UpdateTally: Sendable, Hashable {
    package var count: Int64 = 0
    /// From the earliest to the latest time of fix, as far as they are known; rows lost to damage do not tell theirs.
    package var timesOfFix: ClosedRange<UTCTime>?

    package init(count: Int64 = 0, timesOfFix: ClosedRange<UTCTime>? = nil) {
        (self.count, self.timesOfFix) = (count, timesOfFix)
    }

    mutating func add(_ timeOfFix: UTCTime) { add(UpdateTally(count: 1, timesOfFix: timeOfFix...timeOfFix)) }

    mutating func add(_ other: Self) {
        count += other.count
        guard let more = other.timesOfFix else { return }
        let range = timesOfFix ?? more
        timesOfFix = min(range.lowerBound, more.lowerBound)...max(range.upperBound, more.upperBound)
    }

    func write(into writer: inout RecordWriter) {
        writer.write(count)
        writer.write(byte: timesOfFix == nil ? 0 : 1)
        guard let timesOfFix else { return }
        writer.write(timesOfFix.lowerBound.millisecondsSince1970)
        writer.write(timesOfFix.upperBound.millisecondsSince1970)
    }

    init?(from reader: inout RecordReader) {
        guard let count = reader.count(), let hasRange = reader.byte() else { return nil }
        self.init(count: count)
        guard hasRange == 1 else { return }
        guard let first = reader.time(), let last = reader.time(), first <= last else { return nil }
        timesOfFix = first...last
    }
}
