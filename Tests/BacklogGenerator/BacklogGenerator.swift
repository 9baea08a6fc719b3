import FoundationEssentials
import Reporting
import SQLiteOutbox
import TimeAndRandomness
import WaypostTestSupport

/// Creates an outbox with pending updates at a path, as after a long time without a network.
///
/// Usage: `BacklogGenerator PATH COUNT`. There is one update per second on a drive north; the last one is an hour old.
@main enum BacklogGenerator {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let path = arguments.first, let count = arguments.last.flatMap({ Int($0) }) else {
            throw Misuse()
        }
        let end = (Int64(Date().timeIntervalSince1970) - 3600) * 1000
        var configuration = OutboxConfiguration(path: path, maximumBytes: 1 << 30)
        configuration.durability = .economy
        let outbox = try await SQLiteOutbox.open(configuration)
        for index in 0..<count {
            var update = LocationUpdate(
                timeOfFix: UTCTime(millisecondsSince1970: end - Int64(count - index) * 1000),
                latitude: 48 + Double(index % 100_000) * 1.25e-5, longitude: 11.5166667)
            update.altitudeMeters = 545.4
            update.speedMetersPerSecond = 13.9
            update.headingDegrees = 0
            update.horizontalAccuracyMeters = 2.5
            try await outbox.append(update, with: [], overrulingEarlier: false)
        }
        try await outbox.close()
    }

    private struct Misuse: Error, CustomStringConvertible {
        var description: String { "usage: BacklogGenerator PATH COUNT" }
    }
}
