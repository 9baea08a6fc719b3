/// What the uploader does after an answer.
package enum UploadAction: Sendable, Hashable {
    /// The batch is delivered: tell the outbox, and go on with the next.
    case acknowledge
    /// Send again at once; the batch may be a smaller one.
    case sendAgain
    /// Drop the token and send again at once with a new one.
    case renewToken
    /// Wait; nothing is lost meanwhile.
    case wait(Duration)
    /// Wait, but no longer than until the network comes back, nor shorter than `atLeast`.
    case waitForNetwork(Duration, atLeast: Duration)
    /// Drop the token, and wait before the next probe, which begins with a new one.
    case waitForToken(Duration)
    /// Set this one update aside: the server will never take it.
    case quarantine(StoredUpdate)
    /// A repetition or an unstored update was refused: forget it.
    case forget
}
