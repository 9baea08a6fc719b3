import LinuxPlatform
import LocationReporting

/// A source that is begun anew when it is given up; nothing that the old one still tells is heard.
final class WatchedSource: FixSource {
    private typealias Round = AbandonableCall<Result<Void, FixSourceError>>

    private let make: @Sendable () -> any FixSource
    private let progress: StageProgress
    private let clock: MonotonicClock
    private let round = Locked<Round?>(nil)

    init(progress: StageProgress, clock: MonotonicClock, make: @escaping @Sendable () -> any FixSource) {
        (self.progress, self.clock, self.make) = (progress, clock, make)
    }

    func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        while true {
            let source = make()
            let round = Round(clock: clock)
            self.round.withLock { $0 = round }
            let result = await round.run { [self] () -> Result<Void, FixSourceError> in
                do throws(FixSourceError) {
                    try await source.run { [self] event in
                        guard self.round.withLock({ $0 === round }) else { return }
                        let call = progress.began(.intake)
                        await deliver(event)
                        progress.ended(.intake, call: call)
                    }
                    return .success(())
                } catch { return .failure(error) }
            }
            guard let result else {
                if Task.isCancelled { return self.round.withLock { $0 = nil } }
                continue
            }
            progress.rests(.receiver)
            return try result.get()
        }
    }

    /// Leaves the source that runs to itself and begins another one.
    func repair() { round.withLock { $0 }?.abandon() }
}
