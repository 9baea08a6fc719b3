import GNSS
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

    /// Why logs with sentences have no fix that could be given.
    static func absence(of outcomes: [Outcome]) -> String {
        let names = outcomes.map(\.name).joined(separator: ", ")
        let epochs = outcomes.reduce(0) { $0 + $1.statistics.epochs }
        let undated = outcomes.reduce(0) { $0 + $1.statistics.undatedFixes }
        if undated > 0 {
            return "no fix with a date in \(names): \(FigureText.count(undated, "fix", "fixes")), "
                + "but no RMC or ZDA sentence that dates them"
        }
        guard epochs > 0 else { return "no fix in \(names): no sentence there states a position with its time" }
        return
            "no fix in \(names): \(FigureText.count(epochs, "epoch")), none with a position that its receiver vouches for"
    }
}
