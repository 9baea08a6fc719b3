import GNSS
import ReportedText
import Testing
import WaypostTestSupport

@testable import Reporting

/// Fixes that follow a request too soon, and their effect on a vehicle's requests.
@Suite struct RequestSpacings {
    /// The seconds since the start of the request with the last position (`nil` if that request doesn't count); the
    /// fix's own time and its arrival, in seconds after a fix of second 0 that arrived at 0; and whether it is too
    /// soon.
    static let rows: [(name: String, sinceRequest: Double?, second: Double, at: Double, isTooSoon: Bool)] = [
        ("nothing was sent", nil, 5, 5, false),
        ("the request started a moment after its fix", 4.97, 5, 5, false),
        ("a tenth of a second too soon, which is tolerated", 4.9, 5, 5, false),
        ("more than a tenth of a second too soon", 4.89, 5, 5, true),
        ("the request waited for its token", 3.9, 5, 5, true),
        ("the next fix", 4.9, 6, 6, false),
        ("the previous fix was late", 2, 5, 5, true),
        ("the fix arrives a little earlier than its time", 4.5, 5, 4.6, true),
        ("the fix arrives late", 4.8, 5, 9, true),
        ("a drive that is played faster", 0.1, 5, 0.1, false),
        ("a receiver whose clock is set forward once", 1, 3600, 5, false),
        ("a receiver whose clock is set back", 1, -3600, 5, true),
    ]

    @Test(arguments: rows)
    func decideWhetherAFixIsTooSoon(name: String, sinceRequest: Double?, second: Double, at: Double, isTooSoon: Bool) {
        var spacing = RequestSpacing.live
        spacing.didReport(.sample(0), at: .seconds(100))
        let fix = Fix.sample(second)
        let now = Duration.seconds(100 + at)
        let elapsed = sinceRequest.map { Duration.milliseconds(Int($0 * 1000)) }
        #expect(spacing.isTooSoon(fix, at: now, sinceRequest: elapsed) == isTooSoon, "\(name)")
        // For a recorded log, only the times of fixes count.
        #expect(!RequestSpacing.recordedLog.isTooSoon(fix, at: now, sinceRequest: elapsed))
    }

    /// A late fix doesn't make the next fixes look like a drive that is played faster.
    @Test func compareWithTheMinimumAgeOfAnyFix() {
        var spacing = RequestSpacing.live
        spacing.didReport(.sample(0), at: .seconds(100))
        spacing.didReport(.sample(5), at: .seconds(108))
        #expect(spacing.isTooSoon(.sample(10), at: .seconds(110), sinceRequest: .seconds(2)))
    }

    /// A vehicle with one fix per second: policy, spacing and upload state in simulated time.
    private struct VehicleRun {
        var interval = 5
        var spacing = RequestSpacing.live
        /// The delay of fix number n in milliseconds.
        var fixDelay: (Int) -> Int = { _ in 0 }
        /// The time that request number n, counted from 0, waits for its token, in milliseconds.
        var tokenDelay: (Int) -> Int = { _ in 0 }
        /// The milliseconds until the answer to request number n, and whether it is accepted.
        var answer: (Int) -> (after: Int, isAccepted: Bool) = { _ in (100, true) }
        /// The updates that are pending at the start: none or one.
        var pendingAtStart: [StoredUpdate] = []

        /// Returns the start of each accepted request in milliseconds, and the second of its new position.
        func requests(seconds: Int) throws -> [(at: Int, second: Int)] {
            let upload = UploadStateDriver()
            var (policy, spacing) = (ReportingPolicy(.interval(.seconds(interval)), heartbeat: .seconds(60)), spacing)
            var (pending, reported) = (pendingAtStart, LocationUpdate?.none)
            var newest = pendingAtStart.last
            var requests: [(at: Int, second: Int)] = []
            var (fixes, sent, tokens, actionSince) = (0, 0, 0, 0)
            func handle(_ event: UploadEvent, at now: Int) {
                upload.handle(event, jitter: 0)
                actionSince = now
            }
            for now in stride(from: 0, to: seconds * 1000, by: 10) {
                upload.now = .milliseconds(now)
                if upload.action == nil { handle(.started, at: now) }
                if fixes * 1000 + fixDelay(fixes) <= now {
                    let fix = Fix.sample(10_000 + Double(fixes), north: Double(fixes) * 15, speed: 15)
                    policy.observe(fix, motion: nil)
                    let elapsed = reported.flatMap { upload.state.timeSinceSent($0, at: upload.now) }
                    if policy.isDue(fix), !spacing.isTooSoon(fix, at: upload.now, sinceRequest: elapsed) {
                        policy.didReport(fix)
                        spacing.didReport(fix, at: upload.now)
                        let update = LocationUpdate(fix)
                        reported = update
                        newest = StoredUpdate(sequence: Int64(10_000 + fixes), update: update)
                        pending += [newest].compactMap(\.self)
                        let isWait = upload.action == .wait
                        upload.handle(.updateStored(nil))
                        if isWait { actionSince = now }
                    }
                    fixes += 1
                }
                steps: while true {
                    switch upload.action {
                    case .readOutbox(let request)?:
                        let batch = newest.flatMap { newest -> UploadBatch? in
                            guard !pending.isEmpty else { return nil }
                            let past = pending.filter { $0 != newest }.prefix(
                                request.withBacklog ? request.maximumPastLocations : 0)
                            return UploadBatch(last: newest, lastIsPending: pending.contains(newest), past: Array(past))
                        }
                        handle(.outboxRead(batch, newest: newest), at: now)
                    case .prepare?:
                        guard now >= actionSince + tokenDelay(tokens) else { break steps }
                        tokens += 1
                        handle(.prepared, at: now)
                    case .send(let batch, let seconds)?:
                        let answer = answer(sent)
                        guard now >= actionSince + answer.after else { break steps }
                        sent += 1
                        if answer.isAccepted, batch.lastIsPending || seconds == nil {
                            requests.append((actionSince, Int(batch.stored?.sequence ?? 0) - 10_000))
                        }
                        handle(
                            answer.isAccepted
                                ? .answered(DeliveryResult(.delivered))
                                : .lost(.timedOut, "no answer"), at: now)
                    case .acknowledge(let batch, _)?:
                        pending.removeAll { batch.pending.contains($0) }
                        handle(.resultRecorded(nil), at: now)
                    case .wait?:
                        guard let due = upload.state.dueAt, due <= upload.now else { break steps }
                        handle(.timeReached, at: now)
                    default: break steps
                    }
                }
            }
            return requests
        }
    }

    private static func gaps(between requests: [(at: Int, second: Int)]) -> [Int] {
        zip(requests, requests.dropFirst()).map { $1.at - $0.at }
    }

    /// The fix of second 5 would follow after 3.9 s. The fix of second 6 is reported instead, and then every fifth one.
    @Test func shiftTheIntervalAfterATokenWait() throws {
        let requests = try VehicleRun(tokenDelay: { $0 == 0 ? 1100 : 0 }).requests(seconds: 60)
        #expect(requests.first?.at == 1100)
        #expect(requests.map(\.second) == [0] + Array(stride(from: 6, to: 60, by: 5)))
        #expect(Self.gaps(between: requests).allSatisfy { $0 >= 4900 })
        #expect(requests.dropFirst().allSatisfy { $0.at == $0.second * 1000 })

        let recorded = try VehicleRun(spacing: .recordedLog, tokenDelay: { $0 == 0 ? 1100 : 0 }).requests(seconds: 60)
        #expect(Self.gaps(between: recorded).first == 3900)  // too close without the spacing
    }

    /// After a wait of any length at any request, no requests are too close, and no position is late.
    @Test(arguments: [5, 7, 10, 30], [300, 1100, 4200, 12_000, 31_000])
    func keepTheSpacingAfterAnyWait(interval: Int, wait: Int) throws {
        for number in [0, 1, 5] {
            let requests = try VehicleRun(interval: interval, tokenDelay: { $0 == number ? wait : 0 }).requests(
                seconds: 240)
            #expect(Self.gaps(between: requests).allSatisfy { $0 >= 4900 }, "\(requests)")
            // Every position is fresh, except the one that waited.
            #expect(requests.count { $0.at - $0.second * 1000 > 200 } <= 1, "\(requests)")
            #expect(requests.count >= (240 - wait / 1000 - interval) / interval - 1)
        }
    }

    /// The interval is a little longer with a provider that is always slow.
    @Test func allowAProviderThatIsAlwaysSlow() throws {
        let requests = try VehicleRun(tokenDelay: { _ in 1100 }).requests(seconds: 120)
        #expect(Self.gaps(between: requests).allSatisfy { (4900...7200).contains($0) })
        #expect(requests.allSatisfy { $0.at - $0.second * 1000 == 1100 })
    }

    /// Delays of a few milliseconds, as on a loaded machine.
    @Test(arguments: [5, 6, 10]) func tolerateOrdinaryJitter(interval: Int) throws {
        let requests = try VehicleRun(
            interval: interval, fixDelay: { ($0 * 37) % 50 }, tokenDelay: { $0 == 0 ? 0 : ($0 * 53) % 40 }
        ).requests(seconds: 600)
        #expect(requests.map(\.second) == Array(stride(from: 0, to: 600, by: interval)))
    }

    @Test func ignoreRequestsOfThePreviousRun() throws {
        let old = StoredUpdate(sequence: 9000, update: LocationUpdate(.sample(9000)))
        // The request is in progress from 0 to 400 ms, and the first fix arrives at 500 ms.
        let requests = try VehicleRun(
            fixDelay: { _ in 500 }, answer: { ($0 == 0 ? 400 : 100, true) }, pendingAtStart: [old]
        ).requests(seconds: 30)
        #expect(requests.map(\.second) == [-1000] + Array(stride(from: 0, to: 30, by: 5)))
    }

    /// During an outage, positions are reported at their interval. The first request after the outage delays the next
    /// one.
    @Test(arguments: [0, 700, 4000]) func keepTheIntervalInAnOutage(timeout: Int) throws {
        for end in 6...14 {
            // Requests 2 ..< `end`, counted from 0, fail after `timeout` milliseconds.
            let requests = try VehicleRun(answer: { (2..<end).contains($0) ? (timeout, false) : (100, true) })
                .requests(seconds: 240)
            #expect(Self.gaps(between: requests).allSatisfy { $0 >= 4900 }, "\(requests)")
            #expect(requests.dropFirst(3).allSatisfy { $0.at - $0.second * 1000 <= 200 }, "\(requests)")
            // The position of the first request after the outage is at most an interval and a second old.
            #expect(requests.dropFirst(2).first.map { $0.at - $0.second * 1000 <= 6000 } == true, "\(requests)")
        }
    }
}
