import LinuxPlatform
package import ReportedText
package import Reporting
import StrictJSON

/// A sender of requests to the process that owns an outbox. Only the owner may change quarantined updates, because it
/// has the counters in memory.
///
/// Calls block, and must come from one thread.
package final class OutboxRequester {
    private let connection: SQLiteConnection
    private let insert: SQLiteStatement
    private let fetch: SQLiteStatement
    private let remove: SQLiteStatement

    /// - Throws: the reason why the outbox can't be written.
    package init(path: String) throws(OutboxError) {
        let files = try withSystem(path, StoreFiles(at: path))
        try files.requireOwn(for: EffectiveUser.current)
        _ = try StoreHeader(files, at: files.path)
        let connection = try SQLiteConnection(path: files.path, access: .readWrite)
        connection.setCheckpointOnClose(false)
        try StoreSchema.check(connection)
        try connection.execute(StoreFormat.requesterSettings)
        insert = try SQLiteStatement(connection, "INSERT INTO requests (action, sequences) VALUES (?1, ?2)")
        fetch = try SQLiteStatement(connection, "SELECT answer FROM requests WHERE id = ?1 AND answer IS NOT NULL")
        remove = try SQLiteStatement(connection, "DELETE FROM requests WHERE id = ?1")
        self.connection = connection
    }

    /// Stores a request for the owner. Returns the request's number.
    package func submit(_ request: QuarantineRequest) throws(OutboxError) -> Int64 {
        try insert.run(request.values)
        return connection.lastInsertedID
    }

    /// Returns the answer to a request and removes both; `nil` while there is no answer.
    package func answer(to id: Int64) throws(OutboxError) -> QuarantineAnswer? {
        guard let answer = try fetchAnswer(id) else { return nil }
        try remove.run(id)
        return answer
    }

    /// Withdraws a request. Returns the answer if the owner has already carried the request out; otherwise `nil`.
    package func withdraw(_ id: Int64) throws(OutboxError) -> QuarantineAnswer? {
        try connection.execute("BEGIN IMMEDIATE")
        let answer = try fetchAnswer(id)
        try remove.run(id)
        try connection.execute("COMMIT")
        return answer
    }

    private func fetchAnswer(_ id: Int64) throws(OutboxError) -> QuarantineAnswer? {
        defer { fetch.reset() }
        try fetch.bind(id, at: 1)
        return try fetch.step() ? QuarantineAnswer(fetch.value(0)) : nil
    }
}

/// An operator's request about quarantined updates.
package struct QuarantineRequest: Sendable, Hashable {
    package enum Action: String, Sendable, Hashable {
        /// Makes the updates pending again.
        case requeue
        /// Deletes the updates and counts them as evicted.
        case discard
    }

    package let action: Action
    /// The sequences of the updates; `nil` for all.
    package let sequences: Set<Int64>?

    package init(_ action: Action, _ sequences: Set<Int64>?) {
        self.action = action
        self.sequences = sequences
    }

    /// The values of the columns `action` and `sequences` in the request's row.
    fileprivate var values: [StoredValue] {
        let numbers = sequences.map { JSONValue.array($0.sorted().map { .integer($0) }) }
        return [.text(Array(action.rawValue.utf8)), numbers.map { .text($0.utf8) } ?? .null]
    }

    /// Reads `action` and `sequences` from the current row. Returns `nil` if they are damaged, or unknown to this
    /// release.
    fileprivate init?(_ statement: borrowing SQLiteStatement) {
        guard let action = statement.text(1).flatMap(Action.init) else { return nil }
        guard let value = statement.value(2), value != .null else {
            self.init(action, nil)
            return
        }
        guard let numbers = JSONValue(value)?.arrayValue else { return nil }
        self.init(action, Set(numbers.compactMap(\.integerValue)))
    }
}

extension JSONValue {
    /// Returns `nil` if `value` isn't the text of a JSON document.
    fileprivate init?(_ value: StoredValue?) {
        guard let text = value?.text else { return nil }
        do throws(ParseError) { try self.init(parsing: text) } catch { return nil }
    }
}

/// The answer to a `QuarantineRequest`.
package enum QuarantineAnswer: Sendable, Hashable {
    /// `count` updates were requeued or discarded. `notKept` updates couldn't be requeued, because only the last 256
    /// are kept; they stay in quarantine.
    case done(count: Int64, notKept: Int64)
    /// Nothing was changed: these sequences are not in quarantine.
    case unknown([Int64])
    /// Nothing was changed: the owner of the outbox does not know such a request.
    case notUnderstood

    /// The value of the column `answer` in the request's row.
    fileprivate var value: StoredValue {
        let answer: [String: JSONValue] =
            switch self {
            case .done(let count, let notKept): ["done": .integer(count), "notKept": .integer(notKept)]
            case .unknown(let sequences): ["unknown": .array(sequences.map { .integer($0) })]
            case .notUnderstood: [:]
            }
        return .text(JSONValue.object(answer).utf8)
    }

    fileprivate init(_ value: StoredValue?) {
        let answer = JSONValue(value)
        if let count = answer?["done"]?.integerValue, let notKept = answer?["notKept"]?.integerValue {
            self = .done(count: count, notKept: notKept)
        } else if let sequences = answer?["unknown"]?.arrayValue {
            self = .unknown(sequences.compactMap(\.integerValue))
        } else {
            self = .notUnderstood
        }
    }
}

/// An update that the server rejected permanently, with the server's message.
package struct QuarantinedUpdate: Sendable, Hashable {
    package let stored: StoredUpdate
    /// The server's message, cut to `maximumReasonBytes`.
    package let reason: ReportedText
    /// Whether the update is a shape point.
    let isShapePoint: Bool

    /// The maximum length of a reason in bytes: enough for Fleet Engine's error bodies, while a row still fits on one
    /// page.
    package static let maximumReasonBytes = 512

    package init(stored: StoredUpdate, reason: ReportedText) {
        self.init(stored: stored, reason: reason, isShapePoint: false)
    }

    init(stored: StoredUpdate, reason: ReportedText, isShapePoint: Bool) {
        self.stored = stored
        self.reason = reason.cut(to: Self.maximumReasonBytes)
        self.isShapePoint = isShapePoint
    }

    var row: StoredRow {
        var row = StoredRow(stored.sequence)
        row.set(stored.update)
        row.isShapePoint = isShapePoint
        row.note = Array(reason.description.utf8)
        return row
    }

    /// Returns `nil` if `row` doesn't hold a quarantined update.
    init?(_ row: StoredRow) {
        guard let stored = StoredUpdate(row), let reason = row.note else { return nil }
        self.init(
            stored: stored, reason: ReportedText(bytes: reason, limit: Self.maximumReasonBytes),
            isShapePoint: row.isShapePoint)
    }
}

/// The table of the tools' requests, one row per request, with the answer once the request has been handled.
final class RequestTable {
    private let unanswered: SQLiteStatement
    private let write: SQLiteStatement
    private let forget: SQLiteStatement

    /// The maximum number of requests that are handled at a time.
    static let maximumAtOnce = 16
    /// The maximum number of answers that are kept although the tool ended without fetching them.
    private static let kept: Int64 = 64

    init(_ connection: borrowing SQLiteConnection) throws(OutboxError) {
        unanswered = try SQLiteStatement(
            connection, "SELECT id, action, sequences FROM requests WHERE answer IS NULL ORDER BY id LIMIT ?1")
        write = try SQLiteStatement(connection, "UPDATE requests SET answer = ?2 WHERE id = ?1")
        forget = try SQLiteStatement(connection, "DELETE FROM requests WHERE answer IS NOT NULL AND id < ?1")
    }

    /// Returns the requests without an answer, oldest first; a request is `nil` if it can't be read.
    func unansweredRequests() throws(OutboxError) -> [(id: Int64, request: QuarantineRequest?)] {
        defer { unanswered.reset() }
        try unanswered.bind(Int64(Self.maximumAtOnce), at: 1)
        var requests: [(id: Int64, request: QuarantineRequest?)] = []
        while try unanswered.step() {
            requests.append((unanswered.integer(0), QuarantineRequest(unanswered)))
        }
        return requests
    }

    func answer(_ id: Int64, _ answer: QuarantineAnswer) throws(OutboxError) {
        try write.run([.integer(id), answer.value])
        try forget.run(max(0, id) - Self.kept)
    }
}
