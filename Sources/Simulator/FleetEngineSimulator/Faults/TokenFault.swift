/// What is wrong with one answer of the token endpoint.
package enum TokenFault: Sendable, Hashable {
    case error(status: Int)
    /// A login page with status 200.
    case page
    /// Status 200 without a body.
    case empty
    /// The token is somebody else's.
    case wrongVehicle
    case wrongAudience
    case expired

    /// The word that orders it: a status, or the name of the fault.
    init?(_ word: Substring) {
        switch word {
        case "page": self = .page
        case "empty": self = .empty
        case "wrongVehicle": self = .wrongVehicle
        case "wrongAudience": self = .wrongAudience
        case "expired": self = .expired
        default:
            guard let status = Int(word), (400...599).contains(status) else { return nil }
            self = .error(status: status)
        }
    }

    /// For the page and the log.
    var words: String {
        switch self {
        case .error(let status): "answers \(status)"
        case .page: "answers are a login page"
        case .empty: "answers are empty"
        case .wrongVehicle: "tokens are somebody else's"
        case .wrongAudience: "tokens are for another audience"
        case .expired: "tokens have expired"
        }
    }
}
