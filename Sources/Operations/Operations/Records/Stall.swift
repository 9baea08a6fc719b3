import ReportedText

/// A stage of the service whose progress is watched.
package enum Stage: String, Sendable, Hashable, CaseIterable, Codable {
    /// The receiver's thread goes round. That nothing arrives on the line is no stall: the line is reopened and
    /// the reason reported by the thread itself.
    case receiver
    /// Fixes are accepted from the receiver.
    case intake
    /// The outbox answers.
    case store
    /// The token provider answers, with a token or an error.
    case token
    /// An exchange with Fleet Engine ends, with an answer or an error.
    case transport
    /// The upload loop acts, or waits for a known time or for something to send.
    case upload
    /// The shared pool, on which all tasks run, takes a new one.
    case tasks

    /// A description of the stage's stall.
    fileprivate var complaint: String {
        switch self {
        case .receiver: "the receiver's thread is stuck in a system call"
        case .intake: "fixes are not accepted from the receiver"
        case .store: "the outbox does not answer"
        case .token: "the token provider gives neither a token nor an error"
        case .transport: "an exchange with Fleet Engine does not end"
        case .upload: "the upload loop neither acts nor waits"
        case .tasks: "no task runs"
        }
    }
}

/// A stage that makes no progress and has no reason to wait.
package struct Stall: Sendable, Hashable, CustomStringConvertible {
    package let stage: Stage
    /// How long there has been no progress.
    package let duration: Duration

    package init(stage: Stage, duration: Duration) {
        self.stage = stage
        self.duration = duration
    }

    /// The stage, what is wrong, and for how long.
    package var description: String { "\(stage.rawValue): \(stage.complaint) for \(duration.spoken)" }
}
