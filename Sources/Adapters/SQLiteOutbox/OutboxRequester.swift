import LinuxPlatform
package import LocationReporting

/// Asks the process that owns a store for what only the owner may do: its account is in that process's memory.
///
/// Its calls block for the time of a small write; for one thread.
package final class OutboxRequester {
    private let connection: SQLiteConnection
    private let insert: SQLiteStatement
    private let fetch: SQLiteStatement
    private let remove: SQLiteStatement

    /// - Throws: `unusable` when the store cannot be written, or its owner is of a release that takes no requests;
    ///   `newerSchema`.
    package init(path: String) throws(OutboxError) {
        do throws(StoreError) {
            let path = try withSystem(path) { () throws(SystemError) in
                let files = try StoreFiles(at: path)
                try files.requireOwn(for: EffectiveUser.current)
                return files.path
            }
            _ = try StoreHeader(path: path)
            let connection = try SQLiteConnection(path: path, access: .readWrite)
            connection.setCheckpointOnClose(false)
            let version = try StoreSchema.version(of: connection)
            guard version == StoreFormat.version else {
                throw StoreError(.olderOwner, path: path, reason: "schema \(version)")
            }
            try connection.execute(StoreFormat.requesterSettings)
            insert = try SQLiteStatement(connection, "INSERT INTO requests (body) VALUES (?1)")
            fetch = try SQLiteStatement(connection, "SELECT answer FROM requests WHERE id = ?1 AND answer IS NOT NULL")
            remove = try SQLiteStatement(connection, "DELETE FROM requests WHERE id = ?1")
            self.connection = connection
        } catch { throw OutboxReader.readerError(error) }
    }

    /// Leaves a request for the owner; its number, for the answer.
    package func submit(_ request: QuarantineRequest) throws(OutboxError) -> Int64 {
        do throws(StoreError) {
            try insert.bind(request.bytes, at: 1)
            try insert.run()
            return connection.lastInsertedID
        } catch { throw OutboxReader.readerError(error) }
    }

    /// The answer, which is then forgotten; `nil` while the request waits.
    package func answer(to id: Int64) throws(OutboxError) -> QuarantineAnswer? {
        do throws(StoreError) {
            guard let answer = try fetchAnswer(id) else { return nil }
            try removeRequest(id)
            return answer
        } catch { throw OutboxReader.readerError(error) }
    }

    /// Takes the request back. The answer, should it have come in this moment; `nil` when nothing was or will be done.
    package func withdraw(_ id: Int64) throws(OutboxError) -> QuarantineAnswer? {
        do throws(StoreError) {
            try connection.execute("BEGIN IMMEDIATE")
            let answer = try fetchAnswer(id)
            try removeRequest(id)
            try connection.execute("COMMIT")
            return answer
        } catch { throw OutboxReader.readerError(error) }
    }

    private func fetchAnswer(_ id: Int64) throws(StoreError) -> QuarantineAnswer? {
        defer { fetch.reset() }
        try fetch.bind(id, at: 1)
        return try fetch.step() ? QuarantineAnswer(fetch.blob(0)) : nil
    }

    private func removeRequest(_ id: Int64) throws(StoreError) {
        try remove.bind(id, at: 1)
        try remove.run()
    }
}
