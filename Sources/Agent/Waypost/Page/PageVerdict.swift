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

    init(_ status: StatusReport, at now: UTCTime) {
        text = status.why(at: now).text
        if let trouble = status.troubles(at: now).first {
            (kind, title) = (.trouble, Self.title(of: trouble, in: status))
        } else if status.privateSeconds != nil {
            (kind, title) = (.well, "Private")
        } else if status.delivery.secondsSinceDelivery == nil {
            (kind, title) = (.well, "Starting")
        } else if status.isCatchingUp {
            (kind, title) = (.catchingUp, "Catching up")
        } else {
            (kind, title) = (.well, "All is well")
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
        case .receiving where receiver.refusal != nil: "Positions are rejected"
        case .receiving, .noPosition: "No position"
        }
    }

    private static func delivery(_ delivery: StatusReport.Delivery) -> String {
        switch delivery.troubleKind.flatMap(DeliveryTrouble.Kind.init(rawValue:)) {
        case .token: "No token"
        case .tokenRefused: "The token is rejected"
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
