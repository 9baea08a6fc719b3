import LinuxPlatform
import Testing
import WaypostTestSupport

@testable import Reporting

/// Parts that are replaced while they run.
@Suite(.timeLimit(.minutes(1))) struct Successions {
    /// Runs until it is let go or cancelled, and tells when it began and ended.
    struct Part: Sendable {
        let name: String
        let gate = Gate()
        let log: Locked<[String]>

        func run() async -> Failure? {
            log.withLock { $0.append("\(name) begins") }
            let isLetGo = await gate.pass()
            log.withLock { $0.append("\(name) \(isLetGo ? "is done" : "is cancelled")") }
            return isLetGo ? Failure(part: name) : nil
        }

        func hasBegun() async { for await _ in gate.arrivals.prefix(1) {} }
    }

    struct Failure: Error, Equatable { let part: String }

    let log = Locked<[String]>([])

    func part(_ name: String) -> Part { Part(name: name, log: log) }

    @Test func beginWhenTheirPredecessorsHaveEnded() async {
        let (first, second) = (part("first"), part("second"))
        let succession = Succession(first)
        async let failure = succession.run { await $0.run() }
        await first.hasBegun()
        await succession.replace(with: second)
        #expect(log.withLock { $0 }.prefix(2) == ["first begins", "first is cancelled"])
        await second.hasBegun()
        #expect(await !succession.hasEnded)
        second.gate.open()
        #expect(await failure == Failure(part: "second"))
        #expect(log.withLock { $0 } == ["first begins", "first is cancelled", "second begins", "second is done"])
        #expect(await succession.hasEnded)
        #expect(await succession.current.name == "second")
    }

    /// A part that takes its time to end holds up its successor, and a newer one takes that one's place.
    @Test func areLeftOutWhenANewerOneComes() async {
        let leave = Gate()
        let names = ["first", "second", "third"]
        let succession = Succession(0)
        let run = Task {
            await succession.run { [log] index -> Failure? in
                log.withLock { $0.append(names[index]) }
                while !Task.isCancelled { await Task.yield() }
                if index == 0 { _ = await Task { await leave.pass() }.value }
                return nil
            }
        }
        await yieldTurns { log.withLock { !$0.isEmpty } }
        async let second: Void = succession.replace(with: 1)
        await yieldTurns { await succession.current == 1 }
        async let third: Void = succession.replace(with: 2)
        await yieldTurns { await succession.current == 2 }
        leave.open()
        await second
        await third
        await yieldTurns { log.withLock { $0.count } == 2 }
        run.cancel()
        #expect(await run.value == nil)
        #expect(log.withLock { $0 } == ["first", "third"])
    }

    @Test func mayComeBeforeTheRunAndAfterIt() async {
        let succession = Succession(part("first"))
        let (second, third) = (part("second"), part("third"))
        await succession.replace(with: second)
        second.gate.open()
        #expect(await succession.run { await $0.run() } == Failure(part: "second"))
        await succession.replace(with: third)
        #expect(await succession.current.name == "third")
        #expect(log.withLock { $0 } == ["second begins", "second is done"])
    }

    @Test func endWithTheTaskThatRunsThem() async {
        let first = part("first")
        let succession = Succession(first)
        let run = Task { await succession.run { await $0.run() } }
        await first.hasBegun()
        run.cancel()
        #expect(await run.value == nil)
        #expect(await succession.hasEnded)
    }
}
