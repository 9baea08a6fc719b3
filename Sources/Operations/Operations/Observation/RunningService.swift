import Glibc
package import LinuxPlatform
import ReportedText
import SQLiteOutbox
import StrictJSON

/// The service that runs on this machine, queried at its status address without a secret.
package struct RunningService: Sendable {
    private let address: LocalAddress
    private let outboxPath: String

    /// The maximum time of an answer in seconds, and its maximum size in bytes.
    private static let patience = 10
    private static let longestAnswer = 1 << 20

    /// The service of `configuration`; without one, the service at `address` or at the default address.
    package init(_ configuration: Configuration?, at address: LocalAddress? = nil) {
        self.address = configuration?.statusAddress ?? address ?? .loopback(host: "127.0.0.1", port: 9464)
        outboxPath = configuration?.outbox.path ?? "/var/lib/waypost/outbox.sqlite"
    }

    /// Returns the state of the service, and the JSON text that it was decoded from.
    ///
    /// - Throws: `.unavailable` if the service doesn't answer, with the reason of the last run's end and the remedy.
    package func report() async throws(AgentError) -> (report: StatusReport, json: [UInt8]) {
        switch await ask() {
        case .report(let report, let json): return (report, json)
        case .nobody(let words), .stranger(let words), .mute(let words): throw AgentError(.unavailable, words)
        }
    }

    /// The result of a query: a report, or why there is none, with the remedy.
    enum Answer: Sendable {
        case report(StatusReport, json: [UInt8])
        case nobody(String)
        /// Another program listens at the address.
        case stranger(String)
        /// The service seems to run and doesn't answer.
        case mute(String)
    }

    /// Queries the service.
    func ask() async -> Answer {
        let (address, outboxPath) = (address, outboxPath)
        if case .loopback(_, port: 0) = address {
            let words = "status.listen is \(address), a free port, which is in the log only; give it a number"
            guard let owner = await owner else { return .nobody(words) }
            return .mute("\(owner) has the outbox, and cannot be asked: \(words)")
        }
        let answer: Result<[UInt8], SystemError> = await onThread(named: "status") {
            do throws(SystemError) { return .success(try Self.ask(address)) } catch { return .failure(error) }
        }
        switch answer {
        case .failure(let error):
            if let owner = await owner, let words = Self.silence(at: address, of: owner, outboxPath, error) {
                return .mute(words)
            }
            let user = EffectiveUser.current
            if case .unix = address, error.number == EACCES, user != 0 {
                return .mute(
                    "\(address) is closed to \(FileStatus.words(user)); run this as root (sudo), or see systemctl status waypost"
                )
            }
            return .nobody(
                await onThread(named: "status") {
                    if let words = Self.veil(over: outboxPath, at: address, error) { return words }
                    let isElsewhere = [ECONNREFUSED, ENOENT].contains(error.number)
                    return "\(Self.silence(at: address, error)); \(Self.hint(outboxPath, error))"
                        + (isElsewhere ? Self.hint(atOthers: HoldingProcess.otherServices) : "")
                })
        case .success(let bytes):
            let (status, body) = Self.parts(of: bytes)
            guard status == 200, let report = try? JSONValue(parsing: body).decoded(as: StatusReport.self) else {
                let words = ReportedText(bytes: body, limit: 200)
                return .stranger(
                    "\(address) answers, but not with a status (\(status.map(String.init) ?? "no HTTP")): another program listens there, or status.listen is wrong; it says: \(words)"
                )
            }
            return .report(report, json: body)
        }
    }

    /// The process that has the outbox open, whether it answers or not.
    private var owner: HoldingProcess? {
        get async {
            await onThread(named: "owner") { [outboxPath] in
                OutboxConfiguration.owner(ofOutboxAt: outboxPath)
                    .flatMap { $0.isService && $0.processID != getpid() ? $0 : nil }
            }
        }
    }

    /// Returns why a service that runs doesn't answer, with the remedy; `nil` if the error alone says it.
    package static func silence(
        at address: LocalAddress, of owner: HoldingProcess, _ outboxPath: String, _ error: SystemError
    ) -> String? {
        let (fact, cause): (String, String)
        switch error.number {
        case ECONNREFUSED, ENOENT:
            fact = "nothing listens on \(address)"
            cause = "it goes by another configuration (name its file with --config), or its socket was removed"
        case EAGAIN, ETIMEDOUT:
            fact = "nothing answers within \(patience) s on \(address)"
            cause = "it hangs, or goes by another configuration (name its file with --config)"
        default: return nil
        }
        let remedy =
            owner.isStopped
            ? "it is stopped (Control-Z, or kill -STOP); continue it (kill -CONT \(owner.processID))"
            : "\(cause); \(owner.renewal)"
        return "\(owner) has the outbox \(outboxPath), but \(fact): \(remedy)"
    }

    /// Returns why this user can't know whether a service runs.
    private static func veil(over outboxPath: String, at address: LocalAddress, _ error: SystemError) -> String? {
        guard [ECONNREFUSED, ENOENT].contains(error.number),
            let place = OutboxConfiguration.accessObstacle(toOwnerOfOutboxAt: outboxPath)
        else { return nil }
        return
            "nothing listens on \(address): the service is not running, or goes by another configuration than this, which "
            + "\(FileStatus.words(EffectiveUser.current)) may not see, as \(place) is closed to that user; ask as root, or "
            + "see systemctl status waypost"
    }

    private static func silence(at address: LocalAddress, _ error: SystemError) -> String {
        switch error.number {
        case ECONNREFUSED, ENOENT: "the service is not running: nothing listens on \(address)"
        // The time limit of a socket's call.
        case EAGAIN, ETIMEDOUT:
            "the service does not answer within \(patience) s, though something listens on \(address)"
        default: "the service does not answer: \(error)"
        }
    }

    /// Returns how to query one of the other `services`, which don't listen here. The text is empty without services.
    package static func hint(atOthers services: [HoldingProcess]) -> String {
        guard let service = services.first else { return "" }
        let rest = services.count == 1 ? "runs" : "and \(services.count - 1) more run"
        return "; \(service) \(rest) by another configuration: to ask it, name that file with --config"
    }

    /// Returns why the last run ended, or where to look.
    private static func hint(_ outboxPath: String, _ error: SystemError) -> String {
        let verb = error.number == EAGAIN || error.number == ETIMEDOUT ? "restart" : "start"
        let look = "\(verb) it (systemctl \(verb) waypost), and see systemctl status waypost, journalctl -u waypost"
        let path = StallRecord.path(besideOutbox: outboxPath)
        guard let record = StallRecord.read(from: path) else { return look }
        return "the last run ended itself at \(record.time): \(record.reason); \(look)"
    }

    private static func ask(_ address: LocalAddress) throws(SystemError) -> [UInt8] {
        let socket = try connectedSocket(to: address, within: patience)
        try socket.writeAll(Array("GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8).span)
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while answer.count < longestAnswer {
            var span = buffer.mutableSpan
            let count = try socket.read(into: &span)
            if count == 0 { break }
            answer += buffer[..<count]
        }
        return answer
    }

    /// Returns the status code and the body.
    private static func parts(of answer: [UInt8]) -> (status: Int?, body: [UInt8]) {
        let end = Array("\r\n\r\n".utf8)
        guard answer.starts(with: Array("HTTP/1.".utf8)),
            let head = answer.indices.first(where: { answer[$0...].starts(with: end) })
        else { return (nil, answer) }
        return (Int(String(decoding: answer[9..<min(12, head)], as: UTF8.self)), Array(answer[(head + end.count)...]))
    }
}
