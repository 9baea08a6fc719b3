import BenchmarkReport
import ReceiverSimulator

/// Measures the time from the receiver's last useful byte to the fix, on a serial line with a real baud rate.
///
/// Usage: `ReceiverBenchmark [SECONDS]`; the default is 60. Prints one JSON object per case (`BenchmarkCase`).
/// `docs/benchmarks.md` describes each case.
@main enum ReceiverBenchmark {
    static func main() async throws {
        let seconds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 60
        try await measure(PacedDrive(.tenHertz, baudRate: 115_200, epochs: seconds * 10), name: "10-hertz")
        try await measure(PacedDrive(.town, baudRate: 9600, epochs: seconds, constellations: 2), name: "9600-baud")
    }

    private static func measure(_ drive: PacedDrive, name: String) async throws {
        let fixes = try await FixLatency.measure(drive)
        let reads = try await BareReadLatency.measure(drive.prefix(drive.epochs.count / 3))
        for (share, label) in [(0.5, "p50"), (0.99, "p99")] {
            var line = BenchmarkCase("receiver.last-byte-to-fix.\(name).\(label)", fixes.percentile(share), "ms")
            if share > 0.9 { line = line.keeping(.atMost(1)) }
            try line.against("a loop that polls and reads the same bytes", limit: reads.percentile(share))
                .addingFigure("p90", value: fixes.percentile(0.9)).addingFigure("most", value: fixes.percentile(1))
                .addingFigure("mostOfLoop", value: reads.percentile(1)).addingFigure(
                    "fixes", value: Double(fixes.count)
                )
                .addingFigure("epochBytes", value: Double(drive.meanBytes)).addingFigure(
                    "stillToComeMilliseconds", value: drive.meanTimeAfterUsefulBytes / .milliseconds(1)
                )
                .print()
        }
    }
}
