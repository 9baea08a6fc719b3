import Reporting
import TimeAndChance

/// What the page says first: how things stand, in a few words, and then in those of `why`.
struct PageVerdict: Sendable, Hashable {
    enum Kind: String, Sendable, CaseIterable {
        case well
        /// Positions arrive, and earlier ones are still on their way.
        case catchingUp
        case trouble
    }

    let kind: Kind
    /// As "No receiver".
    let title: String
    let text: String
}

extension PageVerdict {
    init(_ status: StatusReport, at now: UTCTime) {
        let text = status.why(at: now).text
        if let trouble = status.troubles(at: now).first {
            self.init(kind: .trouble, title: Self.title(of: trouble, in: status), text: text)
        } else if status.privateSeconds != nil {
            self.init(kind: .well, title: "Private", text: text)
        } else if status.delivery.secondsSinceDelivery == nil {
            self.init(kind: .well, title: "Starting", text: text)
        } else if status.isCatchingUp {
            self.init(kind: .catchingUp, title: "Catching up", text: text)
        } else {
            self.init(kind: .well, title: "All is well", text: text)
        }
    }

    private static func title(of trouble: StatusReport.Trouble, in status: StatusReport) -> String {
        switch trouble.stage {
        case .receiver: receiver(status.receiver)
        case .outbox where status.delivery.memoryOnly != nil: "The outbox takes no updates"
        case .token where status.delivery.renewalTrouble != nil: "The token cannot be renewed"
        case .outbox, .token, .delivery: delivery(status.delivery)
        }
    }

    private static func receiver(_ receiver: StatusReport.Receiver) -> String {
        switch ReceiverState.Kind(rawValue: receiver.kind) {
        case .waiting: "No receiver"
        case .starting, nil: "The receiver is silent"
        case .ended: "The log has ended"
        case .receiving where receiver.rejection != nil: "Positions are rejected"
        case .receiving, .noPosition: "No position"
        }
    }

    private static func delivery(_ delivery: StatusReport.Delivery) -> String {
        switch delivery.troubleKind.flatMap(DeliveryTrouble.Kind.init(rawValue:)) {
        case .token: "No token"
        case .tokenRejected: "The token is rejected"
        case .retry: "Fleet Engine is busy"
        case .throttled: "Fleet Engine limits the updates"
        case .unreachable: "Fleet Engine cannot be reached"
        case .intercepted: "Something else answers for Fleet Engine"
        case .hold: "Fleet Engine takes no updates"
        case .rejected: "Fleet Engine rejects an update"
        case .outbox: "The outbox cannot be read"
        case nil: "Nothing is sent"
        }
    }
}
