import ReportedText

/// A stage of the service whose progress is watched.
package enum Stage: String, Sendable, Hashable, CaseIterable, Codable {
    /// The receiver's thread, which must keep running its loop. A receiver that sends nothing isn't a stall, because
    /// the thread reopens the port and reports the reason.
    case receiver
    /// The intake, which must process each fix from the receiver.
    case intake
    /// The outbox, whose calls must return.
    case store
    /// The token provider, which must return a token or an error.
    case token
    /// An exchange with Fleet Engine, which must end with a response or an error.
    case transport
    /// The upload loop, which must either send or wait. It may wait for a known time, or until there is something to
    /// send.
    case upload
    /// The shared thread pool, which must run new tasks.
    case tasks

    /// A clause that describes a stall of this stage, to be followed by its duration.
    fileprivate var stallDescription: String {
        switch self {
        case .receiver: "the receiver's thread has been stuck in a system call"
        case .intake: "no fixes have been accepted from the receiver"
        case .store: "the outbox has not answered"
        case .token: "the token provider has returned neither a token nor an error"
        case .transport: "an exchange with Fleet Engine has not ended"
        case .upload: "the upload loop has neither acted nor waited"
        case .tasks: "no task has run"
        }
    }
}

/// A stage that has made no progress although it has something to do.
package struct Stall: Sendable, Hashable, CustomStringConvertible {
    package let stage: Stage
    /// The time since the stage last made progress.
    package let duration: Duration

    package init(stage: Stage, duration: Duration) {
        self.stage = stage
        self.duration = duration
    }

    /// A description that contains the stage, the problem and its duration.
    package var description: String { "\(stage.rawValue): \(stage.stallDescription) for \(duration.humanReadable)" }
}
