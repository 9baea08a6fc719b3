/// What tools have asked of the store's owner: a row each, with its answer once it has been taken up.
final class RequestTable {
    private let unanswered: SQLiteStatement
    private let write: SQLiteStatement
    private let forget: SQLiteStatement

    /// Requests taken up at one look; the next look takes more.
    static let atOnce = 16
    /// Answers that nobody has fetched, because the tool was ended: so many are left.
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
        try write.bind(id, at: 1)
        try write.bind(answer.bytes, at: 2)
        try write.run()
        try forget.bind(max(0, id) - Self.kept, at: 1)
        try forget.run()
    }
}
