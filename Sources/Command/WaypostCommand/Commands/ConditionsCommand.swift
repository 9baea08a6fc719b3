import Conditions
import LinuxPlatform
import ReportedText
import StrictJSON

/// `waypost conditions`: prints the catalog of conditions that the service may report.
struct ConditionsCommand {
    /// A condition in the form that `--json` prints.
    private struct Record: Encodable {
        let code: ConditionCode
        let severity: ConditionCode.Severity
        let stage: ConditionCode.Stage
        let title: String
        let remedy: String
        let visibleAfterSeconds: Int

        init(_ code: ConditionCode) {
            self.code = code
            severity = code.severity
            stage = code.stage
            title = code.title
            remedy = code.remedy
            visibleAfterSeconds = Int(code.visibleAfter / .seconds(1))
        }
    }

    private let codes: [ConditionCode]
    private let asJSON: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        asJSON = arguments.has("--json")
        guard let word = arguments.operands.first else {
            codes = ConditionCode.allCases
            return
        }
        guard let code = ConditionCode(rawValue: word) else {
            let guess = Suggestion.choice(word.lowercased(), among: ConditionCode.allCases.map(\.rawValue))
            throw UsageError(
                "there is no condition \"\(word)\"; run waypost conditions to list them\(guess)", command: "conditions")
        }
        codes = [code]
    }

    func run() throws -> ExitStatus {
        guard !asJSON else {
            try StandardOutput.write(line: JSONValue(encoding: codes.map(Record.init)).prettyText)
            return .done
        }
        for code in codes {
            var lines = LabelledLines()
            lines.add(heading: "\(code.rawValue): \(code.title)")
            lines.add("severity", [code.severity.rawValue])
            lines.add("stage", [code.stage.rawValue])
            lines.add("remedy", wrapped: code.remedy)
            if code.visibleAfter > .zero { lines.add("shown after", ["\(code.visibleAfter.humanReadable)"]) }
            for line in lines.lines { try StandardOutput.write(line: line) }
        }
        return .done
    }
}
