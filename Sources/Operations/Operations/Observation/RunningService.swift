package import Conditions
import FleetEngine
import Glibc
package import LinuxPlatform
import ReportedText
import SQLiteOutbox
import StrictJSON

/// A client of the service that runs on this machine. It sends requests to the service's status address, which requires
/// no secret.
package struct RunningService: Sendable {
    package let address: LocalAddress
    private let outboxPath: String
    /// The configured vehicle; `nil` if the configuration isn't known.
    private let vehicle: VehicleName?
    /// The configuration file; `nil` if it isn't known.
    private let file: String?

    /// The time limit for a response, in seconds.
    private static let timeout = 10
    /// The maximum size of a response in bytes.
    private static let maximumAnswerBytes = 1 << 20

    /// Creates a client of the service with `configuration`, which was read from `file`. If `configuration` is `nil`,
    /// the client uses `address`, or the default address if `address` is also `nil`.
    package init(_ configuration: Configuration?, of file: String? = nil, at address: LocalAddress? = nil) {
        self.address = configuration?.statusAddress ?? address ?? .loopback(host: "127.0.0.1", port: 9464)
        outboxPath = configuration?.outbox.path ?? "/var/lib/waypost/outbox.sqlite"
        vehicle = configuration?.vehicle
        self.file = file
    }

    /// Returns the address that the text of an invalid configuration sets as `status.listen`, although the text may not
    /// be JSON; `nil` if it sets none.
    package static func address(inInvalidConfiguration text: [UInt8]) -> LocalAddress? {
        let words = String(decoding: text, as: UTF8.self).split(separator: "\"", omittingEmptySubsequences: false)
        guard let key = words.firstIndex(of: "listen"), key + 2 < words.endIndex else { return nil }
        return try? LocalAddress(String(words[key + 2]))
    }

    /// Returns whether a service that reports `vehicle` answers at `address`. Blocks.
    static func reports(_ vehicle: VehicleName, at address: LocalAddress) -> Bool {
        guard let answer = try? statusResponse(from: address) else { return false }
        return report(in: statusAndBody(of: answer).body)?.vehicle == vehicle.description
    }

    private static func report(in body: [UInt8]) -> StatusReport? {
        try? JSONValue(parsing: body).decoded(as: StatusReport.self)
    }

    /// Returns a notice if `report` is about another vehicle than the configuration, or about a service that uses
    /// another configuration file; otherwise `nil`. Blocks.
    package func notice(about report: StatusReport) -> String? {
        guard let vehicle else { return nil }
        let service = "waypost \(report.version) is running at \(address)"
        let difference = file.flatMap { ConfigurationComparison.difference(of: $0, from: report) }
        if report.vehicle != vehicle.description {
            return OnlineFinding.otherVehicle(report.vehicle, difference, service: service).sentence.description
        }
        guard case .otherFile? = difference, let difference else { return nil }
        return OnlineFinding.otherConfiguration(difference, service: service).sentence.description
    }

    /// Returns the service's status, and the JSON text from which it was decoded.
    ///
    /// - Throws: `.unavailable` if the service doesn't respond. The message contains the remedy, and the reason why the
    ///   previous run ended if it terminated itself.
    package func report() async throws(AgentError) -> (report: StatusReport, json: [UInt8]) {
        switch await requestStatus() {
        case .report(let report, let json): return (report, json)
        case .notRunning(let words), .otherProgram(let words), .unresponsive(let words):
            throw AgentError(.unavailable, words)
        }
    }

    /// The result of a request for the status: a report, or the reason why there is none, with the remedy.
    enum Answer: Sendable {
        case report(StatusReport, json: [UInt8])
        case notRunning(String)
        /// The program that listens on the address isn't Waypost.
        case otherProgram(String)
        /// The service seems to be running but doesn't respond.
        case unresponsive(String)
    }

    func requestStatus() async -> Answer {
        let address = address
        let outboxPath = outboxPath
        if case .loopback(_, port: 0) = address {
            let words =
                "status.listen is \(address), which chooses a free port that only the log shows; set a fixed port"
            guard let owner = await serviceProcess else { return .notRunning(words) }
            return .unresponsive("\(owner) uses the outbox, but cannot be queried: \(words)")
        }
        let answer: Result<[UInt8], SystemError> = await onThread(named: "status") {
            do throws(SystemError) { return .success(try Self.statusResponse(from: address)) } catch {
                return .failure(error)
            }
        }
        switch answer {
        case .failure(let error):
            if let owner = await serviceProcess {
                let fault = await onThread(named: "status") { Self.listenFault(at: address, of: owner) }
                if let words = Self.reasonForSilence(
                    at: address, of: owner, outboxPath: outboxPath, error: error, fault: fault)
                {
                    return .unresponsive(words)
                }
            }
            let user = EffectiveUser.current
            if case .unix = address, error.number == EACCES, user != 0 {
                return .unresponsive(
                    "\(address) is closed to \(FileStatus.name(ofUser: user)); run this as root (sudo), or see systemctl status waypost"
                )
            }
            let failure = await ServiceUnit.lastFailure.map { "; its last run ended with: \($0)" } ?? ""
            return .notRunning(
                await onThread(named: "status") {
                    if let words = Self.accessObstacle(toOutboxAt: outboxPath, at: address, error: error) {
                        return words
                    }
                    let isElsewhere = [ECONNREFUSED, ENOENT].contains(error.number)
                    let hint = Self.restartHint(outboxPath: outboxPath, error: error)
                    return "\(Self.reasonForSilence(at: address, error: error)); \(hint)\(failure)"
                        + (isElsewhere ? Self.hint(atOtherServices: HoldingProcess.otherServices) : "")
                })
        case .success(let bytes):
            let (status, body) = Self.statusAndBody(of: bytes)
            guard status == 200, let report = Self.report(in: body) else {
                let words = body.isEmpty ? "nothing" : "\(ReportedText(bytes: body, limit: 200))"
                return .otherProgram(
                    "\(address) answers, but not with a status (\(status.map(String.init) ?? "no HTTP")): another program listens there, or status.listen is wrong; the answer: \(words)"
                )
            }
            return .report(report, json: body)
        }
    }

    /// The service's process, recognised by its lock on the outbox, whether it responds or not; `nil` if there is none.
    private var serviceProcess: HoldingProcess? {
        get async {
            await onThread(named: "owner") { [outboxPath] in
                OutboxConfiguration.owner(ofOutboxAt: outboxPath)
                    .flatMap { $0.isService && $0.processID != getpid() ? $0 : nil }
            }
        }
    }

    /// Briefly listens on `address`, to find out why the service `owner` can't. Returns the reason; `nil` if it isn't
    /// known. Blocks.
    private static func listenFault(at address: LocalAddress, of owner: HoldingProcess) -> ListenFault? {
        do throws(ListenError) { _ = try ListeningSocket(on: address) } catch {
            guard case .inUse = error else { return error.fault }
            return error.holder.flatMap { $0.processID == owner.processID ? nil : error.fault }
        }
        return nil
    }

    /// Returns the reason why the service doesn't respond although it is running, with the remedy. Returns `nil` if the
    /// error itself is clear enough. `fault` is the reason why the service can't listen, if that is known.
    package static func reasonForSilence(
        at address: LocalAddress, of owner: HoldingProcess, outboxPath: String, error: SystemError,
        fault: ListenFault? = nil
    ) -> String? {
        let (fact, cause): (String, String)
        switch error.number {
        case ECONNREFUSED, ENOENT:
            fact = "nothing listens on \(address)"
            cause =
                "it uses another configuration (specify that file with --config), or can't listen there (see its log)"
        case EAGAIN, ETIMEDOUT:
            fact = "nothing answers within \(timeout) s on \(address)"
            cause = "it hangs, or uses another configuration (specify that file with --config)"
        default: return nil
        }
        if let fault, !owner.isStopped {
            return "\(owner) runs, but \(Condition(statusAddress: "\(address)", unavailable: fault).line)"
        }
        let remedy =
            owner.isStopped
            ? "it is stopped (Control-Z, or kill -STOP); continue it (kill -CONT \(owner.processID))"
            : "\(cause); \(owner.restartRemedy)"
        return "\(owner) uses the outbox \(outboxPath), but \(fact): \(remedy)"
    }

    /// Returns the reason why this user can't find out whether a service is running; `nil` if the user can find out.
    private static func accessObstacle(toOutboxAt outboxPath: String, at address: LocalAddress, error: SystemError)
        -> String?
    {
        guard [ECONNREFUSED, ENOENT].contains(error.number),
            let place = OutboxConfiguration.accessObstacle(toOwnerOfOutboxAt: outboxPath)
        else { return nil }
        return
            "nothing listens on \(address): the service is not running, or it uses another configuration; "
            + "\(FileStatus.name(ofUser: EffectiveUser.current)) can't find out, because \(place) is closed to that user; "
            + "run this as root (sudo), or see systemctl status waypost"
    }

    private static func reasonForSilence(at address: LocalAddress, error: SystemError) -> String {
        switch error.number {
        case ECONNREFUSED, ENOENT: "the service is not running: nothing listens on \(address)"
        // These errors mean that sending or receiving has exceeded the time limit.
        case EAGAIN, ETIMEDOUT:
            "the service does not answer within \(timeout) s, although something listens on \(address)"
        default: "the service does not answer: \(error)"
        }
    }

    /// Returns a hint on how to query `services`, which run with other configurations. The hint names only the first of
    /// them, and is empty if there are none.
    package static func hint(atOtherServices services: [HoldingProcess]) -> String {
        guard let service = services.first else { return "" }
        let rest = services.count == 1 ? "runs" : "and \(services.count - 1) more run"
        return "; \(service) \(rest) with another configuration: to query it, specify that file with --config"
    }

    /// Returns a hint on where to look for the cause. If the previous run terminated itself, the hint begins with the
    /// reason.
    private static func restartHint(outboxPath: String, error: SystemError) -> String {
        let verb = error.number == EAGAIN || error.number == ETIMEDOUT ? "restart" : "start"
        let look = "\(verb) it (systemctl \(verb) waypost), and see systemctl status waypost, journalctl -u waypost"
        let path = StallRecord.path(forOutbox: outboxPath)
        guard let record = StallRecord.read(from: path) else { return look }
        return "the previous run terminated itself at \(record.time): \(record.reason); \(look)"
    }

    private static func statusResponse(from address: LocalAddress) throws(SystemError) -> [UInt8] {
        let socket = try connectedSocket(to: address, within: timeout)
        try socket.writeAll(Array("GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8).span)
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while answer.count < maximumAnswerBytes {
            var span = buffer.mutableSpan
            let count = try socket.read(into: &span)
            if count == 0 { break }
            answer += buffer[..<count]
        }
        return answer
    }

    /// Returns the status code and the body of an HTTP response. The status code is `nil` if `answer` isn't an HTTP
    /// response.
    private static func statusAndBody(of answer: [UInt8]) -> (status: Int?, body: [UInt8]) {
        let end = Array("\r\n\r\n".utf8)
        guard answer.starts(with: Array("HTTP/1.".utf8)),
            let head = answer.indices.first(where: { answer[$0...].starts(with: end) })
        else { return (nil, answer) }
        return (Int(String(decoding: answer[9..<min(12, head)], as: UTF8.self)), Array(answer[(head + end.count)...]))
    }
}
