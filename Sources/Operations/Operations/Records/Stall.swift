import ReportedText

/// A stage of the service whose progress is watched.
package enum Stage: String, Sendable, Hashable, CaseIterable, Codable {
    /// The receiver's thread, which must keep looping. A silent line isn't a stall: the thread itself reopens the line
    /// and reports the reason.
    case receiver
    /// The intake, which must accept fixes from the receiver.
    case intake
    /// The outbox, which must answer.
    case store
    /// The token provider, which must return a token or an error.
    case token
    /// An exchange with Fleet Engine, which must end with an answer or an error.
    case transport
    /// The upload loop, which must act or wait for a known time or for something to send.
    case upload
    /// The shared thread pool, which must start new tasks.
    case tasks

    /// A description of the stage's stall, to which its duration is added.
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

/// A stage that makes no progress and has no reason to wait.
package struct Stall: Sendable, Hashable, CustomStringConvertible {
    package let stage: Stage
    /// The time without progress.
    package let duration: Duration

    package init(stage: Stage, duration: Duration) {
        self.stage = stage
        self.duration = duration
    }

    /// The stage with the problem and its duration.
    package var description: String { "\(stage.rawValue): \(stage.stallDescription) for \(duration.spoken)" }
}
