package import GNSS
package import LocationReporting

/// Hears what a live receiver's thread does, on that thread: it must return at once.
package protocol ReceiverTap: Sendable {
    /// Whether what is read is kept for replay; gpsd is asked for its receivers' sentences then.
    var keepsOutput: Bool { get }
    /// The thread goes round: it does so at least every `ReceiverPace.longestTurn`, unless a call blocks it.
    func turned()
    /// The thread goes round no more.
    func ended()
    /// The line was opened; what is read from now on is decoded from the beginning.
    func lineOpened()
    /// These bytes were read.
    func received(_ bytes: Span<UInt8>)
    /// A fix was made of what was received so far.
    func fixMade(_ fix: Fix)
    func lineClosed()
}

/// How often a live receiver's thread goes round.
package enum ReceiverPace {
    /// A quiet line is looked at this often, so that a thread that is stuck can be told from a line that is quiet.
    package static let longestTurn = Duration.seconds(10)
    /// Opening a line may take this long at most: looking up a host and connecting to each of its addresses.
    package static let longestOpening = Duration.seconds(60)
}

/// A live receiver played again from a recording of its line: what was read, when, and from which opening of the line.
///
/// The decoder lives in the recorded time, so that it makes the same fixes at any speed; `clock` paces the delivery.
package struct RecordedReceiver: FixSource {
    /// What happened on the line.
    package enum Event: Sendable, Hashable {
        case opened
        case read([UInt8])
        case closed
    }

    private let events: [(at: Duration, event: Event)]
    private let decoder: any LineDecoder
    private let clock: MonotonicClock

    /// `events` in order, their times since the start of `clock`.
    package init(_ events: [(at: Duration, event: Event)], decoder: NMEADecoder, clock: MonotonicClock) {
        (self.events, self.decoder, self.clock) = (events, SentenceDecoder(decoder), clock)
    }

    /// The same of gpsd's reports; see `LiveReceiver.gpsd`.
    package init(
        gpsd events: [(at: Duration, event: Event)], device: String?, dates: NMEADecoderOptions.Dates,
        clock: MonotonicClock
    ) {
        self.events = events
        decoder = GPSDDecoder(GPSDSession(device: device, dates: dates))
        self.clock = clock
    }

    /// Delivers every fix at its time; returns only when it is cancelled, as a receiver that has fallen silent.
    package func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        await deliver(.state(.receiving(source: "recorded receiver")))
        // A recording that has lost its beginning begins in the middle of a line.
        var session = LineSession(decoder: decoder, watch: LineWatch(openedAt: .zero))
        for (index, (at, event)) in events.enumerated() {
            try await wait(until: at)
            let fix: Fix?
            switch event {
            case .opened:
                session = LineSession(decoder: decoder, watch: LineWatch(openedAt: at))
                fix = nil
            case .read(let bytes): fix = session.take(bytes.span, at: at)
            case .closed: fix = session.finish()
            }
            if let fix { await deliver(.fix(fix)) }
            while let warning = session.takeWarning() { await deliver(.warning(warning)) }
            // A pause completes an epoch.
            let next = index + 1 < events.count ? events[index + 1].at : at + .seconds(60)
            var now = at
            while session.wakeUp(after: now) < next {
                now = session.wakeUp(after: now)
                guard let fix = session.lineIsIdle(at: now) else { continue }
                try await wait(until: now)
                await deliver(.fix(fix))
            }
        }
        while true { try await wait(until: clock.now + .seconds(3600)) }
    }

    private func wait(until moment: Duration) async throws(FixSourceError) {
        let pause = moment - clock.now
        if pause > .zero { await clock.sleep(for: pause) }
        if Task.isCancelled { throw FixSourceError(.cancelled, "the recording was stopped") }
    }
}
