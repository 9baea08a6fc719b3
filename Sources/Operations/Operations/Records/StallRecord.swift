import Glibc
import LinuxPlatform
import StrictJSON
package import TimeAndChance

/// Why the last run ended itself: a small file beside the outbox, written at the end and taken at the next start.
package struct StallRecord: Sendable, Hashable, Codable {
    /// When it ended, by the host's clock: `2026-11-21T12:12:40.000Z`.
    package var time: String
    package var stage: Stage
    /// In the operator's words.
    package var reason: String
    /// For how long that run had been up.
    package var uptimeSeconds: Int
    package var version: String

    package init(_ stall: Stall, time: UTCTime, uptime: Duration) {
        self.time = time.description
        stage = stall.stage
        reason = stall.description
        uptimeSeconds = Int(uptime / .seconds(1))
        version = Release.version
    }

    /// Where it is, given the outbox.
    package static func path(besideOutbox outbox: String) -> String { outbox + ".stalled" }

    /// No record is larger; a larger file is something else.
    private static let longest = 4096

    /// Puts it in its place at once, for this user alone.
    package func write(to path: String) throws {
        let place = try FileReplacement(at: path)
        try place.commit(Array((JSONValue(encoding: self).text + "\n").utf8))
    }

    /// What the last run left; `nil` when it left nothing that can be read as a record.
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
