import Testing

@testable import RunRecording

/// Which decisions count as the same.
@Suite struct RunComparisons {
    static func accepted(_ number: Int64, _ time: String, at: RecordedNumber = 0) -> RecordingEntry {
        RecordingEntry(at: at, .accepted(update: RecordedNumber(number), timeOfFix: time))
    }
    static func waiting(_ delay: Int, _ reason: String = "retry", at: RecordedNumber = 0) -> RecordingEntry {
        RecordingEntry(at: at, .waiting(delay: RecordedNumber(delay), reason: reason))
    }

    /// Recorded, replayed, and the differences, as `kind number recorded|replayed`.
    @Test(
        arguments: [
            ([accepted(1, "a"), waiting(10)], [waiting(10), accepted(1, "a")], []),  // each kind by itself
            ([accepted(41, "a"), accepted(42, "b")], [accepted(1, "a"), accepted(2, "b")], []),
            ([accepted(1, "a")], [accepted(1, "b")], ["updates 1 accepted, fix of a|accepted, fix of b"]),
            ([waiting(10), waiting(20)], [waiting(10)], ["waits 2 20 ms (retry)|none"]),
            ([waiting(1000)], [waiting(1240)], []),  // threads are not as fast each time
            ([waiting(1000)], [waiting(1260)], ["waits 1 1000 ms (retry)|1260 ms (retry)"]),
            ([waiting(20_000)], [waiting(22_000)], []),
            ([waiting(10)], [waiting(10, "hold")], ["waits 1 10 ms (retry)|10 ms (hold)"]),
            ([waiting(10)], [waiting(10), waiting(30)], ["waits 2 none|30 ms (retry)"]),
            ([waiting(10)], [waiting(10), waiting(30, at: 1001)], []),  // after the recording's end
            ([waiting(10, at: 999)], [waiting(10, at: 1500)], []),  // late, and yet the same
            (
                [accepted(41, "a"), RecordingEntry(at: 0, .quarantined(update: 41))],
                [accepted(1, "a"), RecordingEntry(at: 0, .quarantined(update: 1))], []
            ),
            (
                [accepted(41, "a"), RecordingEntry(at: 0, .quarantined(update: 41))], [accepted(1, "a")],
                ["quarantined 1 update 1|none"]
            ),
            (
                [RecordingEntry(at: 0, .notStored(error: "full"))], [accepted(1, "a")],
                ["updates 1 not stored (full)|accepted, fix of a"]
            ),
        ] as [([RecordingEntry], [RecordingEntry], [String])])
    func tellsDifferences(recorded: [RecordingEntry], replayed: [RecordingEntry], differences: [String]) {
        let comparison = RunComparison(recorded: recorded, replayed: replayed, end: .seconds(1))
        let found = comparison.kinds.flatMap { kind in
            kind.differences.map { "\(kind.name) \($0.number) \($0.recorded ?? "none")|\($0.replayed ?? "none")" }
        }
        #expect(found == differences)
        #expect(comparison.isEqual == differences.isEmpty)
        #expect(comparison.kinds.map(\.name.rawValue) == ["updates", "waits", "quarantined"], "the words of --json")
    }
}
