import Glibc
import LinuxPlatform
import StrictJSON
package import TimeAndChance

/// The reason why the last run ended itself, in a small file next to the outbox. It is written at the end and removed
/// at the next start.
package struct StallRecord: Sendable, Hashable, Codable {
    /// The time of the end by the host's clock, such as `2026-11-21T12:12:40.000Z`.
    package var time: String
    package var stage: Stage
    /// A description for the operator.
    package var reason: String
    /// The duration of that run.
    package var uptimeSeconds: Int
    package var version: String

    package init(_ stall: Stall, time: UTCTime, uptime: Duration) {
        self.time = time.description
        stage = stall.stage
        reason = stall.description
        uptimeSeconds = Int(uptime / .seconds(1))
        version = Release.version
    }

    /// The path of the record, given the outbox's.
    package static func path(besideOutbox outbox: String) -> String { outbox + ".stalled" }

    /// The maximum size of a record. A larger file is something else.
    private static let longest = 4096

    /// Writes the record atomically, readable for this user only.
    package func write(to path: String) throws {
        let place = try FileReplacement(at: path)
        try place.commit(Array((JSONValue(encoding: self).text + "\n").utf8))
    }

    /// Reads the record of the last run. Returns `nil` if there is none that can be read.
    package static func read(from path: String) -> StallRecord? {
        // Another user may ask what the service has left.
        guard let status = try? FileStatus(at: path),
            status.doubt(writtenBy: EffectiveUser.expected(at: path)) == nil,
            let file = try? OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
        else { return nil }
        var buffer = [UInt8](repeating: 0, count: longest + 1)
        var span = buffer.mutableSpan
        guard let count = try? file.read(into: &span), count <= longest else { return nil }
        return try? JSONValue(parsing: Array(buffer[..<count])).decoded()
    }
}

extension Stall {
    /// A disk that does not answer must not keep the process from its end.
    private static let longestWriting = Duration.seconds(5)

    /// Ends the process with status 1; nothing that was accepted is lost by that. The reason is in the log and in
    /// a record at `path`.
    package func endProcess(recordedAt path: String, uptime: Duration, log: LogWriter) -> Never {
        log.write(.error, "\(self); the service ends itself to be restarted")
        let record = StallRecord(self, time: .system, uptime: uptime)
        if let written = try? EventDescriptor() {
            startThread(named: "last-stall") {
                do { try record.write(to: path) } catch { log.write(.error, "the reason cannot be written: \(error)") }
                written.signal()
            }
            _ = try? poll(nil, within: Self.longestWriting, unless: written)
        }
        StandardError.flush(within: .seconds(1))
        ChildTable.endAll()
        _exit(1)
    }
}
