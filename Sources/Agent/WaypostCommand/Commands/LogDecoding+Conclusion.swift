import LocationReporting
import Waypost

extension LogDecoding {
    /// What was read before a failure has been used; now the failure is told.
    ///
    /// - Returns: `done` when there is none, or the operator ended it.
    static func conclude(_ failure: (any Error)?) throws -> ExitStatus {
        guard let failure else { return .done }
        if let failure = failure as? FixSourceError {
            if failure.code == .cancelled { return .done }
            throw AgentError(.inputData, failure.description)
        }
        throw failure
    }
}
