import LocationReporting
import SQLiteOutbox
import Waypost

/// Has a request about quarantined updates carried out: by the service, should it hold the store, and else at once.
struct QuarantineDesk {
    let configuration: OutboxConfiguration

    /// How long the service may take; it looks each 2 s.
    private static let patience = Duration.seconds(15)
    private static let pause = Duration.milliseconds(100)

    /// - Throws: `OutboxError`, and `AgentError` when the service does not take the request up.
    func carryOut(_ request: QuarantineRequest) async throws -> QuarantineAnswer {
        _ = try OutboxReader(path: configuration.path)  // says so when there is no store; opening would make one
        var settings = OutboxSettings(configuration)
        settings.repairsDamage = false
        do throws(OutboxError) {
            let outbox = try await SQLiteOutbox.open(settings)
            let answer = try await outbox.carryOut(request)
            try await outbox.close()
            return answer
        } catch {
            guard error.code == .locked else { throw error }
            return try await ask(request, holder: String(error.detail.prefix { $0 != ";" }))
        }
    }

    private func ask(_ request: QuarantineRequest, holder: String) async throws -> QuarantineAnswer {
        let requester = try OutboxRequester(path: configuration.path)
        let number = try requester.submit(request)
        let clock = ContinuousClock()
        let deadline = clock.now + Self.patience
        while clock.now < deadline, !Task.isCancelled {
            if let answer = try requester.answer(to: number) { return answer }
            do { try await clock.sleep(for: Self.pause) } catch { break }  // told to stop: nothing is left behind
        }
        if let answer = try requester.withdraw(number) { return answer }
        throw AgentError(
            .unavailable,
            "\(holder), which has not taken the request up within \(Int(Self.patience / .seconds(1))) s; nothing was "
                + "changed. Look at its log, or stop it and try again")
    }
}
