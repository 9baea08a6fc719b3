import LinuxPlatform
package import ReportedText
package import Reporting

/// Asks the process that owns an outbox for what only the owner may do: its counters are in that process's memory.
///
/// Its calls block for the time of a small write; for one thread.
package final class OutboxRequester {
    private let connection: SQLiteConnection
    private let insert: SQLiteStatement
    private let fetch: SQLiteStatement
    private let remove: SQLiteStatement

    /// - Throws: `unusable` when the outbox cannot be written, or its owner is of a release that takes no requests;
    ///   `newerSchema`.
    package convenience init(path: String) throws(OutboxError) { try self.init(path: path, schema: .released) }

    init(path: String, schema: StoreSchema) throws(OutboxError) {
        do throws(StoreError) {
            var files = try withSystem(path, StoreFiles(at: path))
            files.schema = schema
            try withSystem(path, files.requireOwn(for: EffectiveUser.current))
            _ = try StoreHeader(files, at: files.path)
            let connection = try SQLiteConnection(path: files.path, access: .readWrite)
            connection.setCheckpointOnClose(false)
            let version = try schema.version(of: connection)
            guard version == schema.current else {
                throw StoreError(.olderOwner, path: files.path, reason: "schema \(version)")
            }
            try connection.execute(StoreFormat.requesterSettings)
            insert = try SQLiteStatement(connection, "INSERT INTO requests (body) VALUES (?1)")
            fetch = try SQLiteStatement(connection, "SELECT answer FROM requests WHERE id = ?1 AND answer IS NOT NULL")
            remove = try SQLiteStatement(connection, "DELETE FROM requests WHERE id = ?1")
            self.connection = connection
        } catch { throw OutboxError(error, repairsDamage: false) }
    }

    /// Leaves a request for the owner; its number, for the answer.
    package func submit(_ request: QuarantineRequest) throws(OutboxError) -> Int64 {
        try forTools(insert.bind(request.bytes, at: 1))
        try forTools(insert.run())
        return connection.lastInsertedID
    }

    /// The answer, which is then forgotten; `nil` while the request waits.
    package func answer(to id: Int64) throws(OutboxError) -> QuarantineAnswer? {
        guard let answer = try forTools(fetchAnswer(id)) else { return nil }
        try forTools(remove.run(id))
        return answer
    }

    /// Withdraws the request. Returns the answer if it has come meanwhile; `nil` when nothing was or will be done.
    package func withdraw(_ id: Int64) throws(OutboxError) -> QuarantineAnswer? {
        try forTools(connection.execute("BEGIN IMMEDIATE"))
        let answer = try forTools(fetchAnswer(id))
        try forTools(remove.run(id))
        try forTools(connection.execute("COMMIT"))
        return answer
    }

    private func fetchAnswer(_ id: Int64) throws(StoreError) -> QuarantineAnswer? {
        defer { fetch.reset() }
        try fetch.bind(id, at: 1)
        return try fetch.step() ? QuarantineAnswer(fetch.blob(0)) : nil
    }
}

/// What an operator wants done with quarantined updates.
package struct QuarantineRequest: Sendable, Hashable {
    package enum Action: UInt8, Sendable, Hashable {
        /// Pending again, to be delivered once more.
        case requeue = 1
        /// Counted as evicted.
        case discard = 2
    }

    package let action: Action
    /// Which ones; `nil` for all there are.
    package let sequences: Set<Int64>?

    package init(_ action: Action, _ sequences: Set<Int64>?) { (self.action, self.sequences) = (action, sequences) }

    var bytes: [UInt8] {
        var writer = RecordWriter()
        writer.write(byte: action.rawValue)
        for number in [Int64(sequences?.count ?? -1)] + (sequences ?? []).sorted() { writer.write(number) }
        return writer.bytes
    }

    /// `nil` when the bytes are not what was written, or a newer release's.
    init?(_ bytes: [UInt8]) {
        var reader = RecordReader(bytes[...])
        guard let action = reader.byte().flatMap(Action.init), let count = reader.signed() else { return nil }
        let sequences = reader.numbers()
        guard count <= sequences.count else { return nil }
        self.init(action, count < 0 ? nil : Set(sequences.prefix(Int(count))))
    }
}

/// What became of a `QuarantineRequest`.
package enum QuarantineAnswer: Sendable, Hashable {
    /// So many are pending again, or evicted. `notKept` counts those that could not be requeued because only the last
    /// 256 are kept: they stay in quarantine.
    case done(count: Int64, notKept: Int64)
    /// Nothing was changed: these are not in quarantine.
    case unknown([Int64])
    /// Nothing was changed: the owner of the outbox does not know such a request.
    case notUnderstood

    var bytes: [UInt8] {
        let (kind, numbers): (UInt8, [Int64]) =
            switch self {
            case .notUnderstood: (0, [])
            case .done(let count, let notKept): (1, [count, notKept])
            case .unknown(let sequences): (2, sequences)
            }
        var writer = RecordWriter()
        writer.write(byte: kind)
        for number in numbers { writer.write(number) }
        return writer.bytes
    }

    init(_ bytes: [UInt8]) {
        var reader = RecordReader(bytes[...])
        let (kind, numbers) = (reader.byte(), reader.numbers())
        switch kind {
        case 1 where numbers.count >= 2: self = .done(count: numbers[0], notKept: numbers[1])
        case 2: self = .unknown(numbers)
        default: self = .notUnderstood
        }
    }
}

/// An update that the server rejected for good, with the server's words.
package struct QuarantinedUpdate: Sendable, Hashable {
    package let stored: StoredUpdate
    /// The server's words, cut to `maximumReasonBytes`.
    package let reason: ReportedText

    /// Enough for Fleet Engine's error bodies, and few enough for a row to fit on one page.
    package static let maximumReasonBytes = 512

    package init(stored: StoredUpdate, reason: ReportedText) {
        self.stored = stored
        self.reason = reason.cut(to: Self.maximumReasonBytes)
    }

    var bytes: [UInt8] {
        var writer = RecordWriter()
        stored.update.write(into: &writer)
        writer.write(bytes: reason.description.utf8)
        return SealedRecord.seal(.quarantined, id: stored.sequence, payload: writer.bytes)
    }

    /// `nil` when the bytes are not what was written for this sequence.
    init?(_ bytes: ArraySlice<UInt8>, sequence: Int64) {
        guard RecordReader.plausibleSequences.contains(sequence),
            case (.quarantined, var reader)? = SealedRecord.open(bytes, id: sequence),
            let update = LocationUpdate(from: &reader)
        else { return nil }
        self.init(
            stored: StoredUpdate(sequence: sequence, update: update),
            reason: ReportedText(bytes: reader.rest, limit: Self.maximumReasonBytes))
    }
}

/// What tools have asked of the outbox's owner: a row each, with its answer once it has been handled.
final class RequestTable {
    private let unanswered: SQLiteStatement
    private let write: SQLiteStatement
    private let forget: SQLiteStatement

    /// Requests handled at a time; the rest waits for the next time.
    static let atOnce = 16
    /// Answers that were not fetched, as the tool was ended: so many are kept.
    private static let kept: Int64 = 64

    init(_ connection: borrowing SQLiteConnection) throws(StoreError) {
        unanswered = try SQLiteStatement(
            connection, "SELECT id, body FROM requests WHERE answer IS NULL ORDER BY id LIMIT ?1")
        write = try SQLiteStatement(connection, "UPDATE requests SET answer = ?2 WHERE id = ?1")
        forget = try SQLiteStatement(connection, "DELETE FROM requests WHERE answer IS NOT NULL AND id < ?1")
    }

    /// Those without an answer, oldest first; `nil` in place of one that cannot be read.
    func open() throws(StoreError) -> [(id: Int64, request: QuarantineRequest?)] {
        defer { unanswered.reset() }
        try unanswered.bind(Int64(Self.atOnce), at: 1)
        var requests: [(id: Int64, request: QuarantineRequest?)] = []
        while try unanswered.step() {
            requests.append((unanswered.integer(0), QuarantineRequest(unanswered.blob(1))))
        }
        return requests
    }

    func answer(_ id: Int64, _ answer: QuarantineAnswer) throws(StoreError) {
        try write.run(id, answer.bytes)
        try forget.run(max(0, id) - Self.kept)
    }
}
