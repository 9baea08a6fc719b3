import FoundationEssentials
import GNSS
import LinuxPlatform
import LocationReporting
import SQLiteOutbox
import Waypost

/// `waypost outbox`: the ledger, what waits, and what becomes of quarantined updates; while the service runs and while
/// it is stopped.
struct OutboxCommand {
    private enum Action {
        case list, export
        case change(QuarantineRequest)
    }

    private let action: Action
    private let asJSON: Bool
    private let configuration: OutboxConfiguration
    private var path: String { configuration.path }

    init(_ arguments: Arguments) throws {
        action = try Self.action(arguments)
        asJSON = arguments.has("--json")
        configuration = try Configuration(file: arguments.value("--config") ?? "").outbox
    }

    func run() async throws -> ExitStatus {
        try EffectiveUser.becomeOwner(ofFolderOf: path)
        do {
            switch action {
            case .list: try list(OutboxReader(path: path))
            case .export: try export(OutboxReader(path: path))
            case .change(let request): return try await change(request)
            }
        } catch let error as OutboxError {
            throw AgentError(.unavailable, error.description)
        }
        return .done
    }

    private static func action(_ arguments: Arguments) throws -> Action {
        let word = arguments.operands.first ?? ""
        let numbers = arguments.allValues("--update")
        let isChosen = arguments.has("--all") || !numbers.isEmpty
        func usage(_ problem: String) -> UsageError { UsageError("outbox \(word) \(problem)", command: "outbox") }
        guard word == "requeue" || word == "discard" else {
            if isChosen { throw usage("takes no --all and no --update") }
            return word == "export" ? .export : .list
        }
        if !isChosen { throw usage("needs --update N for each update, or --all") }
        if arguments.has("--all"), !numbers.isEmpty { throw usage("takes --all or --update, not both") }
        let sequences = try numbers.map { text in
            guard let number = Int64(text), number > 0 else {
                throw usage("takes --update with the number of an update, not \"\(text)\"; outbox list shows them")
            }
            return number
        }
        return .change(
            QuarantineRequest(
                word == "requeue" ? .requeue : .discard, arguments.has("--all") ? nil : Set(sequences)))
    }

    private func list(_ reader: OutboxReader) throws {
        let listing = OutboxListing(
            path: path, try reader.summary(), oldestPending: try reader.pending(after: 0).first,
            quarantined: try reader.quarantined().map(OutboxRow.init))
        try StandardOutput.write(line: asJSON ? Self.encoded(listing) : listing.text)
    }

    private func export(_ reader: OutboxReader) throws {
        try reader.forEachPending { try StandardOutput.write(line: Self.encoded(OutboxRow($0))) }
        for row in try reader.quarantined() { try StandardOutput.write(line: Self.encoded(OutboxRow(row))) }
    }

    private func change(_ request: QuarantineRequest) async throws -> ExitStatus {
        switch try await QuarantineDesk(configuration: configuration).carryOut(request) {
        case .done(let count, let notKept) where count > 0 || notKept > 0:
            let result = QuarantineResult(
                action: request.action == .requeue ? "requeue" : "discard", path: path, updates: count,
                notKept: notKept)
            try StandardOutput.write(line: asJSON ? Self.encoded(result) : result.text)
            return .done
        case .done: Terminal.say("waypost: \(path): nothing is quarantined")
        case .unknown(let numbers):
            let list = numbers.prefix(10).map(String.init).joined(separator: ", ")
            Terminal.say(
                "waypost: \(path): not in quarantine: \(list)\(numbers.count > 10 ? " and more" : ""); nothing was "
                    + "changed. outbox list shows the numbers")
        case .notUnderstood:
            Terminal.say("waypost: \(path): the service that runs does not know this request; update and restart it")
        }
        return .failed
    }

    private static func encoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
