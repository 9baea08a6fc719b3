import LocationReporting

/// Errors in the words of the port: which file, what happened, what to do.
func outboxError(_ error: StoreError) -> OutboxError {
    switch error.kind {
    case .full:
        OutboxError(
            .full,
            "\(error.path): no space is left (\(error.reason)); free some on this file system. Accepted updates "
                + "are safe, new ones are not accepted until then")
    case .newerSchema:
        OutboxError(
            .newerSchema,
            "\(error.path): written by a newer release (\(error.reason)); install that release again, or "
                + "give another outbox path. The file was not changed")
    case .locked:
        OutboxError(.locked, "\(error.path): \(error.reason); stop it first, or give another outbox path")
    case .olderOwner:
        OutboxError(
            .unusable,
            "\(error.path): the service that runs is of an older release, which takes no requests; restart it first")
    case .damaged:
        OutboxError(
            .unusable,
            "\(error.path): damaged, and not to be repaired (\(error.reason)); check the disk, or give an outbox path on "
                + "another one")
    case .damagedAgain:
        OutboxError(
            .damaged,
            "\(error.path): damaged again after a repair (\(error.reason)), which is tried again in ten minutes, or at a "
                + "restart; check the disk, or give an outbox path on another one")
    case .readOnly:
        OutboxError(
            .unusable,
            "\(error.path): the file system is read-only (\(error.reason)); if it was not mounted so, the kernel found "
                + "errors on the disk (journalctl -k): check it and mount it writable again")
    case .refused:
        OutboxError(.unusable, "\(error.path): the outbox cannot be read or written: \(error.reason)")
    case .unusable:
        OutboxError(
            .unusable,
            "\(error.path): the outbox cannot be read or written: \(error.reason). The path must be a file, "
                + "in a folder that this user may write, on a sound disk")
    }
}
