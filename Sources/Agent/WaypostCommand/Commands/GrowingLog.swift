import GNSSReceiver

/// What `--follow` can do with a log.
enum GrowingLog {
    /// - Throws: for a log that is there and does not grow: an archive.
    static func require(_ path: String, command: String) throws(UsageError) {
        guard DecodedLog.isArchive(at: path) else { return }
        throw UsageError("\(path) is a gzip archive, which does not grow; leave --follow out", command: command)
    }
}
