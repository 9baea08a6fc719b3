import GNSS
import LinuxPlatform
import LocationReporting

/// What all live receivers have in common: a thread that reads and decodes, and a task that delivers the newest.
struct LiveReceiver: Sendable {
    let endpoint: any ReceiverEndpoint
    /// Begins anew with each opening of the line.
    let decoder: any LineDecoder
    /// How long a line may be without a sentence before that is reported (see `LineWatch`).
    var patience = Duration.seconds(5)
    /// How long sentences may come without a position before that is reported (see `PositionWatch`).
    var positionPatience = Duration.seconds(60)
    /// When a lost line is opened again, unless something tells that it is back.
    var schedule = ReopenSchedule()
    /// Hears of each turn of the thread and of what it reads, if there is one.
    var tap: (any ReceiverTap)?

    /// See `FixSource.run`. When this returns or throws, the thread has ended and the line is closed.
    func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        let stop = try EventDescriptor.forReceiver()
        let mailbox = EventMailbox()
        let failure = Locked<FixSourceError?>(nil)
        await withTaskCancellationHandler {
            async let reading: Void = onThread(named: "gnss-receiver") {
                var loop = ReceiverLoop(receiver: self, stop: stop, mailbox: mailbox)
                do throws(FixSourceError) {
                    try loop.run()
                } catch {
                    failure.withLock { $0 = error }
                }
                mailbox.close()
            }
            for await _ in mailbox.arrivals {
                for event in mailbox.take() { await deliver(event) }
            }
            await reading
        } onCancel: {
            stop.signal()
        }
        if Task.isCancelled { throw FixSourceError(.cancelled, "\(endpoint.name): stopped") }
        for event in mailbox.take() { await deliver(event) }
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

extension LiveReceiver {
    /// A receiver that speaks NMEA 0183.
    init(
        endpoint: any ReceiverEndpoint, decoder: NMEADecoder, patience: Duration = .seconds(5),
        positionPatience: Duration = .seconds(60), schedule: ReopenSchedule = ReopenSchedule(),
        tap: (any ReceiverTap)? = nil
    ) {
        self.init(
            endpoint: endpoint, decoder: SentenceDecoder(decoder), patience: patience,
            positionPatience: positionPatience, schedule: schedule, tap: tap)
    }
}

extension EventDescriptor {
    /// The signal by which a receiver is stopped.
    static func forReceiver() throws(FixSourceError) -> EventDescriptor {
        do throws(SystemError) {
            return try EventDescriptor()
        } catch {
            throw FixSourceError(.cannotOpen, "cannot start the receiver: \(error)")
        }
    }
}
