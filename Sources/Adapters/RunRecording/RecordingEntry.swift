import FleetEngine
import GNSS
package import HTTPMessages
import LocationReporting
import StrictJSON
import TimeAndChance
package import VehicleAuthorization

/// One line of a recording: when, and one thing that happened, as `{"at":300,"read":{"bytes":4}}`.
package struct RecordingEntry: Sendable, Hashable, Codable {
    /// Milliseconds since the start of the run, monotonic.
    package let at: RecordedNumber
    package let event: RecordedEvent

    private enum Key: CodingKey { case at }

    package init(at: RecordedNumber, _ event: RecordedEvent) { (self.at, self.event) = (at, event) }

    package init(from decoder: any Decoder) throws {
        at = try decoder.container(keyedBy: Key.self).decode(RecordedNumber.self, forKey: .at)
        event = try RecordedEvent(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        try event.encode(to: encoder)
        var line = encoder.container(keyedBy: Key.self)
        try line.encode(at, forKey: .at)
    }
}

/// What a line tells. The cases are the format, their names its tags; `docs/operations.md` has the table.
///
/// No token, header, body or coordinate is in it. Times are milliseconds.
package enum RecordedEvent: Sendable, Hashable, Codable {
    /// The receiver's line was opened or closed.
    case lineOpened
    case lineClosed
    /// So many bytes were read, the next ones in the receiver's file of the same number.
    case read(bytes: RecordedNumber)

    /// A request went out; `number` counts them from 1.
    case request(number: RecordedNumber, purpose: HTTPRequest.Purpose)
    /// What became of it: a status, or why no answer came. The other side asked for a pause of `after`.
    case answer(
        number: RecordedNumber, outcome: String, status: Int?, error: HTTPTransportError.Code?, took: RecordedNumber,
        sent: RecordedNumber, received: RecordedNumber, after: RecordedNumber?)
    /// The issuer was asked for a token, and gave one unless there is an error; it is to be renewed after `reuse`,
    /// where a doubt asks for that.
    case token(
        error: AuthorizationError.Code?, took: RecordedNumber, lifetime: RecordedNumber?,
        reuse: RecordedNumber? = nil, after: RecordedNumber?)

    /// The kernel announced a new address or route.
    case networkReturned
    /// Another configuration was put in force; `parts` go on in another way.
    case reloaded(parts: [String])
    /// The vehicle became private, or was so no more: between the two nothing of the receiver is kept.
    case privateMode(isOn: Bool)
    /// Chance drawn for a wait, from 0...1.
    case draw(of: Chance, value: Double)

    /// A fix was not reported, although it was due: the request with the last position had begun too shortly before.
    case tooSoon(timeOfFix: String)
    /// An update is in the outbox under this number; `timeOfFix` is the receiver's UTC.
    case accepted(update: RecordedNumber, timeOfFix: String)
    /// An update could not be stored, by the word of `OutboxError.Code`.
    case notStored(error: String)
    /// A request is made of so many updates that wait; 0 when the newest one is repeated.
    case uploading(updates: RecordedNumber)
    /// Nothing is sent for a while, because of an answer's outcome, the `token` or the `outbox`.
    case waiting(delay: RecordedNumber, reason: String)
    case quarantined(update: RecordedNumber)
    /// All that was evicted since the outbox was made.
    case evicted(total: RecordedNumber)
    /// A stage stalled, and this repair was tried, counted from 1.
    case repair(stage: String, number: RecordedNumber)
    /// So many entries could not be kept: the disk was too slow.
    case lost(entries: RecordedNumber)

    /// What chance is drawn for.
    package enum Chance: String, Sendable, Hashable, Codable { case upload, token }
}

extension HTTPRequest.Purpose: Codable {}
extension HTTPTransportError.Code: Codable {}
extension AuthorizationError.Code: Codable {}

/// A whole number of a recording. One that no run comes to, beyond a hundred years of milliseconds, is not read, so
/// that those that are can be added and subtracted.
package struct RecordedNumber: Sendable, Hashable, Codable, ExpressibleByIntegerLiteral {
    package let value: Int

    package init(_ value: some BinaryInteger) { self.value = Int(clamping: value) }
    package init(integerLiteral value: Int) { self.value = value }

    /// Whole milliseconds.
    package init(_ time: Duration) { value = Int(time / .milliseconds(1)) }

    init?(_ time: Duration?) {
        guard let time else { return nil }
        self.init(time)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value = try container.decode(Int.self)
        guard value.magnitude < 1 << 42 else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no run comes to \(value)")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }

    package var duration: Duration { .milliseconds(value) }
}

/// The first line of every file of a run.
package struct RunHeader: Sendable, Hashable, Codable {
    /// The version of the format.
    package var format = Self.currentFormat
    /// The run's start by the host's clock, which names the run.
    package let run: String
    /// Whether something keeps that clock right.
    package let isSynchronized: Bool
    /// The release that made it.
    package let version: String

    /// The version that is written and read.
    static let currentFormat = 1
}

/// Lines of JSON.
enum RecordingLine {
    static func bytes(_ value: some Encodable) -> [UInt8] {
        // Numbers and words always encode.
        (try? JSONValue(encoding: value)).map { Array("\($0.text)\n".utf8) } ?? []
    }

    /// `nil` for a line that is not an entry: it is cut off, or whose numbers no run comes to.
    static func value<Value: Decodable>(_ type: Value.Type, of line: ArraySlice<UInt8>) -> Value? {
        try? JSONValue(parsing: Array(line)).decoded(as: type)
    }
}

/// From what happens in the pipeline to the decisions in a recording: the same words when it is made and when it is
/// played again.
struct PipelineDecisions: Sendable {
    /// Why the next wait is.
    private var reason = "outbox"

    /// What is recorded of `event`; `nil` when it is no decision.
    mutating func decision(in event: ReportingEvent) -> RecordedEvent? {
        switch event {
        case .accepted(let stored):
            return .accepted(
                update: RecordedNumber(stored.sequence), timeOfFix: stored.update.timeOfFix.description)
        case .tooSoon(let fix): return .tooSoon(timeOfFix: fix.timeOfFix.description)
        case .notStored(_, let error): return .notStored(error: error.code.rawValue)
        case .uploading(let batch): return .uploading(updates: RecordedNumber(batch.pending.count))
        case .waiting(let delay, _): return .waiting(delay: RecordedNumber(delay), reason: reason)
        case .quarantined(let stored, _): return .quarantined(update: RecordedNumber(stored.sequence))
        case .failed(let outcome, _): reason = outcome.word
        case .noToken: reason = "token"
        case .outboxFailed: reason = "outbox"
        case .privateModeBegan: return .privateMode(isOn: true)
        case .privateModeEnded: return .privateMode(isOn: false)
        case .receiver, .receiverWarning, .sky, .progress, .fix, .refused, .withheld, .delivered, .serverTime, .idle,
            .stateSent:
            break
        }
        return nil
    }
}

extension UploadOutcome {
    /// Its kind, without the other side's words.
    var word: String {
        switch self {
        case .delivered: "delivered"
        case .tokenRefused: "tokenRefused"
        case .retry: "retry"
        case .throttled: "throttled"
        case .unreachable: "unreachable"
        case .intercepted: "intercepted"
        case .hold: "hold"
        case .rejected: "rejected"
        }
    }
}
