import FleetEngine
package import GNSSReceiver
import HTTPMessages
import LinuxPlatform
package import LocationReporting
import VehicleAuthorization

/// Keeps what a run hears and decides: the receiver's bytes with their times, the outcomes of requests and token
/// fetches, the kernel's word of the network, and what followed from them. No token, header, body, nor a coordinate
/// beyond the receiver's own sentences.
///
/// What comes is put into memory, and written by the thread `flight-recorder`.
package final class FlightRecorder: ReportingObserver, ReceiverTap {
    private struct State {
        var backlog = FlightBacklog()
        var words = FlightWords()
        var requests = 0
        var evicted: Int64 = 0
    }

    private let clock: MonotonicClock
    private let progress: (any ReceiverTap)?
    private let state = Locked(State())

    /// `clock` counts from the start of the run; `progress` hears of the receiver's turns.
    package init(clock: MonotonicClock, progress: (any ReceiverTap)? = nil) {
        (self.clock, self.progress) = (clock, progress)
    }

    /// Milliseconds since the start.
    var now: Int { clock.now.milliseconds }

    package var keepsOutput: Bool { true }
    package func turned() { progress?.turned() }
    package func lineOpened() { note { $0.with(\.line, "opened") } }
    package func lineClosed() { note { $0.with(\.line, "closed") } }
    package func fixMade() { state.withLock { $0.backlog.closeRead() } }

    package func received(_ bytes: Span<UInt8>) {
        let now = now
        let copy = bytes.indices.map { bytes[$0] }
        state.withLock { $0.backlog.add(copy.span, at: now) }
    }

    package func observe(_ event: ReportingEvent) {
        let now = now
        state.withLock { state in
            if let entry = state.words.entry(for: event, at: now) { state.backlog.add(entry) }
        }
    }

    /// Adds an entry of this moment.
    func note(_ words: (FlightEntry) -> FlightEntry) {
        let entry = words(FlightEntry(at: now))
        state.withLock { $0.backlog.add(entry) }
    }

    /// Notes that a request goes out, and gives its number.
    func noteRequest(_ kind: String) -> Int {
        let entry = FlightEntry(at: now).with(\.request, kind)
        return state.withLock { state in
            state.requests += 1
            state.backlog.add(entry.with(\.number, state.requests))
            return state.requests
        }
    }

    /// Notes what the account says when more was evicted.
    func note(_ ledger: StatusReport.Account) {
        let entry = FlightEntry(at: now).with(\.evicted, ledger.evicted)
        state.withLock { state in
            guard ledger.evicted != state.evicted else { return }
            state.evicted = ledger.evicted
            state.backlog.add(entry)
        }
    }

    /// Draws from 0...1, and notes it.
    func draw(of kind: String) -> Double {
        let value = Double.random(in: 0...1)
        note { $0.with(\.draw, kind).with(\.value, value) }
        return value
    }

    /// Everything that has still to be written.
    func takeBacklog() -> (receiver: [UInt8], lines: [UInt8])? {
        state.withLock { $0.backlog.isEmpty ? nil : $0.backlog.take() }
    }
}
