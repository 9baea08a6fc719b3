import ReportedText
import Testing
import WaypostTestSupport

@testable import Reporting

/// A backlog and a server that accepts nine of ten requests: the upload state in simulated time, with a new position
/// every ten seconds.
@Suite struct ThrottledBacklog {
    private static let backlogCount = 545
    private static let interval = Duration.seconds(10)
    private static let exchangeTime = Duration.milliseconds(250)

    private struct BacklogRun {
        var requests = 0
        var throttled = 0
        var drained: Duration?
        /// The times from each 429 to the next request.
        var pauses: [Duration] = []
    }

    /// Runs until the backlog is delivered. A request for which `isThrottled` returns `true` gets a 429 with `after` as
    /// its Retry-After.
    private static func run(
        after: Duration? = nil, past: Int = 50, maximum: Duration = .seconds(7200), isThrottled: (Int) -> Bool
    ) throws -> BacklogRun {
        let upload = UploadStateDriver(backlogUpdatesPerSecond: 100, maximumPastLocations: past)
        var run = BacklogRun()
        var pending = (1...Int64(backlogCount)).map { StoredUpdate.sample($0) }
        var newest = pending[backlogCount - 1]
        var (nextPosition, throttledAt) = (interval, Duration?.none)
        while run.drained == nil, upload.now < maximum {
            if nextPosition <= upload.now {
                newest = .sample(newest.sequence + 10)
                pending.append(newest)
                nextPosition += interval
                upload.handle(.updateStored(nil))
            }
            switch upload.action {
            case nil: upload.handle(.started)
            case .readOutbox(let request)?:
                let older = pending.filter { $0.sequence != newest.sequence }.prefix(
                    request.withBacklog ? request.maximumPastLocations : 0)
                let isPending = pending.contains { $0.sequence == newest.sequence }
                let batch = UploadBatch(last: newest, lastIsPending: isPending, past: Array(older))
                upload.handle(.outboxRead(pending.isEmpty ? nil : batch, newest: newest))
            case .prepare?: upload.handle(.prepared)
            case .send?:
                run.requests += 1
                if let before = throttledAt { run.pauses.append(upload.now - before) }
                throttledAt = nil
                upload.now += exchangeTime
                if isThrottled(run.requests) {
                    run.throttled += 1
                    throttledAt = upload.now
                    upload.handle(.answered(DeliveryResult(.throttled(.sample("429"), after: after))))
                } else {
                    upload.handle(.answered(DeliveryResult(.delivered)))
                }
            case .acknowledge(let batch, _)?:
                let delivered = Set(batch.pending.map(\.sequence))
                pending.removeAll { delivered.contains($0.sequence) }
                if (pending.first?.sequence ?? .max) > backlogCount { run.drained = upload.now }
                upload.handle(.resultRecorded(nil))
            case .wait?:
                let due = upload.state.dueAt ?? nextPosition
                upload.now = max(upload.now, min(due, nextPosition))
                if due < nextPosition || due <= upload.now { upload.handle(.timeReached) }
            case let action?:
                Issue.record("unexpected: \(action)")
                return run
            }
        }
        return run
    }

    /// Retry-After in seconds, past locations per request, and the maximum time for 545 pending updates in seconds.
    @Test(arguments: [(nil, 50, 30), (2, 50, 30), (30, 50, 90), (nil, 8, 120), (nil, 2, 420)] as [(Int?, Int, Int)])
    func drainsIfOneAnswerInTenIs429(after seconds: Int?, past: Int, limit: Int) throws {
        let after = seconds.map { Duration.seconds($0) }
        // Each of the ten possible positions of the first 429.
        for first in 1...10 {
            let run = try Self.run(after: after, past: past) { $0 % 10 == first % 10 }
            let drained = try #require(run.drained)
            let comment: Comment = "\(drained), \(run.requests) requests, \(run.throttled) of them answered 429"
            #expect(drained <= .seconds(limit), comment)
            #expect(run.pauses.allSatisfy { $0 >= after ?? .seconds(5) })
        }
    }

    @Test func sendsFewRequestsToAServerThatRejectsAll() throws {
        let run = try Self.run(maximum: .seconds(3600)) { _ in true }
        #expect(run.drained == nil)
        #expect((55...130).contains(run.requests))
    }
}
