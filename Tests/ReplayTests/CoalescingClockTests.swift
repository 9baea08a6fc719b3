import Reporting
import Testing
import WaypostTestSupport

@testable import Replay

@Suite(.timeLimit(.minutes(1))) struct CoalescingClocks {
    private let base = ManualClock()

    @Test(arguments: [
        // The time until which each task slept, in milliseconds, and the time when it woke.
        (1, 10), (10, 10), (11, 20), (20, 20), (95, 100),
    ])
    func wakeSleepersInTheFirstTickAfterTheirTime(deadline: Int, woken: Int) async throws {
        let clock = CoalescingClock(base)
        let begun = clock.now
        let sleep = Task {
            try await clock.sleep(for: .milliseconds(deadline))
            return begun.duration(to: clock.now)
        }
        // Time stops at `woken`, because a woken task reads the clock a little later.
        let turns = Task { [base] in
            for await wait in base.sleeps where begun.duration(to: clock.now) < .milliseconds(woken) {
                base.advance(by: wait)
            }
        }
        #expect(try await sleep.value == .milliseconds(woken))
        turns.cancel()
    }

    @Test func useOneTimerForAllSleepers() async throws {
        let clock = CoalescingClock(base)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<1000 { group.addTask { try? await clock.sleep(for: .milliseconds(20 + index % 20)) } }
            var waits: [Duration] = []
            for await wait in base.sleeps {
                waits.append(wait)
                // All tasks sleep before time advances.
                while clock.sleepers < 1000, waits.count == 1 { await Task.yield() }
                base.advance(by: wait)
                if waits.count == 4 { break }
            }
            #expect(waits == [Duration](repeating: .milliseconds(10), count: 4))
        }
        #expect(clock.sleepers == 0)
    }

    @Test func wakeACancelledSleeper() async throws {
        let clock = CoalescingClock(base)
        let sleep = Task { try await clock.sleep(for: .seconds(3600)) }
        while clock.sleepers == 0 { await Task.yield() }
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
        let early = Task { try await clock.sleep(for: .seconds(3600)) }
        early.cancel()
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(clock.sleepers == 0)
        base.end()  // the timer fires again
    }

    @Test func doNotSleepUntilAPastTime() async throws {
        let clock = CoalescingClock(base)
        try await clock.sleep(for: .zero)
        #expect(clock.sleepers == 0)
    }
}
