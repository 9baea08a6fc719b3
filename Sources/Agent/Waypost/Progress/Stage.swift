/// A stage of the service whose progress is watched.
package enum Stage: String, Sendable, Hashable, CaseIterable, Codable {
    /// The receiver's thread goes round. That nothing arrives on the line is no standstill: the line is opened anew and
    /// the reason told by the thread itself.
    case receiver
    /// What the receiver tells is taken in.
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

    /// What is tried when it stands still, one after the other, before the process ends.
    package var repairs: [String] {
        switch self {
        case .receiver: ["it is opened anew on another thread"]
        case .store: ["positions are sent from memory until it answers"]
        case .token: ["its call is given up and the provider made anew"]
        case .transport: ["its exchange is given up, and the next takes a new connection", "it is made anew"]
        case .upload: ["it is woken, on a new connection"]
        case .intake, .tasks: []
        }
    }

    /// What is wrong when it stands still.
    var complaint: String {
        switch self {
        case .receiver: "the receiver's thread is stuck in a call of the system"
        case .intake: "what the receiver tells is not taken in"
        case .store: "the outbox does not answer"
        case .token: "the token provider gives neither a token nor an error"
        case .transport: "an exchange with Fleet Engine does not end"
        case .upload: "the upload loop neither acts nor waits"
        case .tasks: "no task is run any more"
        }
    }
}
