import LinuxPlatform
package import ReportedText
package import Reporting
import StrictJSON

/// A tool's connection to an outbox, through which it sends requests to the outbox's owner. Only the owner can change
/// quarantined updates, because it has the counters in memory.
///
/// Calls block, and must all come from one thread.
package final class OutboxRequester {
    private let connection: SQLiteConnection
    private let insert: SQLiteStatement
    private let fetch: SQLiteStatement
    private let remove: SQLiteStatement

    /// Opens the outbox at `path`.
    ///
    /// - Throws: the reason why this user can't write to the outbox.
    package init(path: String) throws(OutboxError) {
        let files = try withSystem(path, StoreFiles(at: path))
        try files.requireOwnFiles(for: EffectiveUser.current)
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

    /// Stores a request for the owner to carry out. Returns the number by which the request is identified.
    package func submit(_ request: QuarantineRequest) throws(OutboxError) -> Int64 {
        try insert.run(request.values)
        return connection.lastInsertedID
    }

    /// Returns the answer to a request, and removes the request with its answer. Returns `nil` while there is no
    /// answer.
    package func answer(to id: Int64) throws(OutboxError) -> QuarantineAnswer? {
        guard let answer = try fetchAnswer(id) else { return nil }
        try remove.run(id)
        return answer
    }

    /// Withdraws a request. If the owner has already carried it out, returns the answer; otherwise `nil`.
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

/// An operator's request to change quarantined updates.
package struct QuarantineRequest: Sendable, Hashable {
    package enum Action: String, Sendable, Hashable {
        /// Makes the updates pending again.
        case requeue
        /// Deletes the updates, and counts them as evicted.
        case discard
    }

    package let action: Action
    /// The sequence numbers of the updates; `nil` for all quarantined updates.
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

    /// Reads `action` and `sequences` from the current row of `statement`. Returns `nil` if they are damaged, or if
    /// this release doesn't know the action.
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
    /// Parses the text of a JSON document. Returns `nil` if `value` isn't such a text.
    fileprivate init?(_ value: StoredValue?) {
        guard let text = value?.text else { return nil }
        do throws(ParseError) { try self.init(parsing: text) } catch { return nil }
    }
}

package enum QuarantineAnswer: Sendable, Hashable {
    /// `count` updates were requeued or discarded. `notRequeued` updates stay in quarantine. They can't be requeued,
    /// because only the last 256 rows are kept.
    case done(count: Int64, notRequeued: Int64)
    /// Nothing was changed, because the updates with these sequence numbers aren't in quarantine.
    case unknown([Int64])
    /// Nothing was changed, because the owner of the outbox doesn't support this request.
    case notUnderstood

    /// The value of the column `answer` in the request's row.
    fileprivate var value: StoredValue {
        let answer: [String: JSONValue] =
            switch self {
            case .done(let count, let notRequeued): ["done": .integer(count), "notKept": .integer(notRequeued)]
            case .unknown(let sequences): ["unknown": .array(sequences.map { .integer($0) })]
            case .notUnderstood: [:]
            }
        return .text(JSONValue.object(answer).utf8)
    }

    fileprivate init(_ value: StoredValue?) {
        let answer = JSONValue(value)
        if let count = answer?["done"]?.integerValue, let notRequeued = answer?["notKept"]?.integerValue {
            self = .done(count: count, notRequeued: notRequeued)
        } else if let sequences = answer?["unknown"]?.arrayValue {
            self = .unknown(sequences.compactMap(\.integerValue))
        } else {
            self = .notUnderstood
        }
    }
}

/// An update that the server has permanently rejected, with the server's message.
package struct QuarantinedUpdate: Sendable, Hashable {
    package let stored: StoredUpdate
    /// The server's message, cut off after `maximumReasonBytes`.
    package let reason: ReportedText
    let isShapePoint: Bool

    /// The maximum length of a reason in bytes. It is enough for Fleet Engine's error messages, and a row with such a
    /// reason still fits on one page.
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

    /// Reads a quarantined update from a row. Returns `nil` if the row contains something else.
    init?(_ row: StoredRow) {
        guard let stored = StoredUpdate(row), let reason = row.note else { return nil }
        self.init(
            stored: stored, reason: ReportedText(bytes: reason, limit: Self.maximumReasonBytes),
            isShapePoint: row.isShapePoint)
    }
}

/// The table of the tools' requests. It contains one row per request. The row also contains the answer once the request
/// has been handled.
final class RequestTable {
    private let unanswered: SQLiteStatement
    private let writeAnswer: SQLiteStatement
    private let deleteOldAnswers: SQLiteStatement

    /// The maximum number of requests that the owner handles at a time.
    static let maximumAtOnce = 16
    /// The number of recent requests whose answers are kept, in case the tool ended without fetching them.
    private static let keptAnswers: Int64 = 64

    init(_ connection: borrowing SQLiteConnection) throws(OutboxError) {
        unanswered = try SQLiteStatement(
            connection, "SELECT id, action, sequences FROM requests WHERE answer IS NULL ORDER BY id LIMIT ?1")
        writeAnswer = try SQLiteStatement(connection, "UPDATE requests SET answer = ?2 WHERE id = ?1")
        deleteOldAnswers = try SQLiteStatement(connection, "DELETE FROM requests WHERE answer IS NOT NULL AND id < ?1")
    }

    /// Returns the oldest requests that have no answer yet. A request that can't be read is `nil`.
    func unansweredRequests() throws(OutboxError) -> [(id: Int64, request: QuarantineRequest?)] {
        defer { unanswered.reset() }
        try unanswered.bind(Int64(Self.maximumAtOnce), at: 1)
        var requests: [(id: Int64, request: QuarantineRequest?)] = []
        while try unanswered.step() {
            requests.append((unanswered.integer(0), QuarantineRequest(unanswered)))
        }
        return requests
    }

    func store(_ answer: QuarantineAnswer, forRequest id: Int64) throws(OutboxError) {
        try writeAnswer.run([.integer(id), answer.value])
        try deleteOldAnswers.run(max(0, id) - Self.keptAnswers)
    }
}
