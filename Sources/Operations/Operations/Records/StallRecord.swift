import Conditions
import Glibc
import LinuxPlatform
import StrictJSON
package import TimeAndRandomness

/// The reason why the previous run terminated itself. It is stored in a small file next to the outbox. The run writes
/// the file when it ends, and the next start removes the file.
package struct StallRecord: Sendable, Hashable, Codable {
    /// The time at which the run ended, according to the host's clock, such as `2026-11-21T12:12:40.000Z`.
    package var time: String
    package var stage: Stage
    /// A description of the stall for the operator.
    package var reason: String
    /// The duration of the run in seconds.
    package var uptimeSeconds: Int
    package var version: String

    package init(_ stall: Stall, time: UTCTime, uptime: Duration) {
        self.time = time.description
        stage = stall.stage
        reason = stall.description
        uptimeSeconds = Int(uptime / .seconds(1))
        version = Release.version
    }

    /// Returns the path of the record for the outbox at the path `outbox`.
    package static func path(forOutbox outbox: String) -> String { outbox + ".stalled" }

    /// The maximum size of a record in bytes. A larger file can't be a record and is ignored.
    private static let maximumBytes = 4096

    /// Writes the record to a file that only this user can read. Replaces an existing file atomically.
    package func write(to path: String) throws {
        let file = try FileReplacement(at: path)
        try file.commit(Array((JSONValue(encoding: self).text + "\n").utf8))
    }

    /// Returns the record of the previous run; `nil` if there is none, or if it can't be read.
    package static func read(from path: String) -> StallRecord? {
        // The file must belong to the service's user, who may differ from the user of this process.
        guard let status = try? FileStatus(at: path),
            status.writeRefusal(for: EffectiveUser.expectedOwner(ofFileAt: path)) == nil,
            let file = try? OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
        else { return nil }
        var buffer = [UInt8](repeating: 0, count: maximumBytes + 1)
        var span = buffer.mutableSpan
        guard let count = try? file.read(into: &span), count <= maximumBytes else { return nil }
        return try? JSONValue(parsing: Array(buffer[..<count])).decoded()
    }
}

extension Stall {
    /// The time limit for writing the record. Without it, a hanging disk could keep the process from ending.
    private static let writeTimeout = Duration.seconds(5)

    /// Ends the process with status 1, after logging the reason and recording it at `path`. No accepted update is lost.
    package func endProcess(recordedAt path: String, uptime: Duration, log: LogWriter) -> Never {
        let record = StallRecord(self, time: .system, uptime: uptime)
        log.write(Condition(stalledAt: record.time, record.reason))
        if let written = try? EventDescriptor() {
            startThread(named: "last-stall") {
                do { try record.write(to: path) } catch {
                    log.write(Condition(unchanged: .stall, because: error, (error as? SystemError)?.refusal))
                }
                written.signal()
            }
            _ = try? poll(nil, within: Self.writeTimeout, unless: written)
        }
        StandardError.flush(within: .seconds(1))
        ChildTable.endAll()
        _exit(1)
    }
}
