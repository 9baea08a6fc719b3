import Foundation
import Synchronization
import VehicleAuthorization

/// Tells once of each way in which a provider breaks the contract.
final class ContractBreaches: Sendable {
    /// A rule that was broken.
    enum Breach: UInt8 {
        case calledBackTwice = 1
        case calledBackAtOnce = 2
        case neverCalledBack = 4
        case neverReturned = 8

        fileprivate var words: String {
            switch self {
            case .calledBackTwice:
                "the token provider called back more than once for one fetchToken; only the first answer counts. "
                    + "Let it call its completion handler exactly once"
            case .calledBackAtOnce:
                "the token provider called back before its fetchToken returned; that works here, but the SDKs demand "
                    + "that the completion handler is called asynchronously"
            case .neverCalledBack:
                "the token provider let the time for an answer pass without calling back; "
                    + "let it call its completion handler on every path, with an error where there is no token"
            case .neverReturned:
                "the token provider's fetchToken does not return: it blocks the thread that calls it. "
                    + "Let it return at once and call its completion handler later"
            }
        }
    }

    private let told = Atomic<UInt8>(0)
    private let report: @Sendable (AuthorizationWarning) -> Void

    /// `report`: hears of each breach once; `nil` writes to standard error.
    init(report: (@Sendable (AuthorizationWarning) -> Void)?) {
        self.report =
            report ?? { warning in FileHandle.standardError.write(Data("waypost: \(warning)\n".utf8)) }
    }

    func note(_ breach: Breach) {
        let earlier = told.bitwiseOr(breach.rawValue, ordering: .relaxed).oldValue
        if earlier & breach.rawValue == 0 { report(.brokenContract(breach.words)) }
    }
}
