import Testing
import VehicleAuthorization

/// The time without updates while an issuer fails. The rules about reusing tokens are tested in simulated time, with an
/// update every five seconds.
@Suite struct IssuerOutages {
    private static let interval = 5

    /// The start of the outage within the lifetime of the current token.
    enum OutageStart: CaseIterable, Sendable {
        /// Just after the token was fetched.
        case afterRenewal
        /// Just before the latest time at which the next token would be requested.
        case atRenewal
    }

    /// The issuer's failure: at once, or after 30 s.
    enum Failure: Int, CaseIterable, Sendable { case refuses = 0, hangs = 30 }

    /// Lifetimes in minutes, and the seconds until the latest possible renewal.
    private static let lifetimes = [(6, 60), (15, 450), (60, 1800)]

    @Test(arguments: [30, 300, 3000], OutageStart.allCases) func causeNoDelayWhileTheTokenIsValid(
        seconds: Int, start: OutageStart
    ) {
        for (minutes, renewal) in Self.lifetimes {
            for failure in Failure.allCases {
                let from = start == .afterRenewal ? 1 : renewal
                let outage = from..<from + seconds
                let (silent, asked) = Self.simulateDrive(lifetime: minutes * 60, outage: outage, failure: failure)
                let end = minutes * 60 - 10
                // The maximum wait between two attempts, the duration of a hanging attempt, and two update intervals.
                let late = 60 + failure.rawValue + 2 * Self.interval
                let maximum = outage.upperBound + late <= end ? 0 : max(0, outage.upperBound - end) + late
                #expect(
                    silent <= maximum,
                    "\(minutes) min, \(seconds) s, \(start), \(failure): \(silent) s, \(asked) fetches")
                // docs/authorization.md promises this.
                if failure == .refuses, end >= outage.upperBound + 60 { #expect(silent == 0) }
                #expect(asked <= 10 + seconds / 30 + (outage.upperBound + 3600) / renewal, "\(asked) fetches")
            }
        }
    }

    /// An outage of fifty-five minutes just after a token for an hour was fetched, or of twenty-eight minutes at any
    /// time of the token's life.
    @Test(arguments: [(1, 55), (300, 54), (900, 44), (1439, 35), (1800, 28)])
    func areBridgedByATokenOfAnHour(from: Int, minutes: Int) {
        for failure in Failure.allCases {
            let (silent, _) = Self.simulateDrive(lifetime: 3600, outage: from..<from + minutes * 60, failure: failure)
            #expect(silent == 0)
        }
    }

    /// Drives until an hour after the outage. Returns the numbers of seconds without an update and of requests to the
    /// issuer.
    private static func simulateDrive(
        lifetime: Int, outage: Range<Int>, failure: Failure
    ) -> (secondsWithoutUpdate: Int, requests: Int) {
        let van = AuthorizationContext(vehicleID: "v")
        var cache = TokenCache()
        var (silent, asked) = (0, 0)
        var inProgress: Int?
        func endFetch(_ cache: inout TokenCache, begun: Int, now: Int) -> TokenCache.Outcome {
            let outcome: TokenCache.Outcome =
                outage.contains(begun)
                ? .failure(AuthorizationError(.unavailable, "down"))
                : .success(AuthorizationToken(value: "\(begun)", lifetime: .seconds(lifetime)))
            return cache.recordOutcome(outcome, for: van, begun: .seconds(begun), now: .seconds(now), jitter: 1).answer
        }
        for second in 0..<outage.upperBound + 3600 {
            if let begun = inProgress, second >= begun + failure.rawValue {
                _ = endFetch(&cache, begun: begun, now: second)
                inProgress = nil
            }
            guard second.isMultiple(of: interval) else { continue }
            let answer = cache.requestToken(for: van, now: .seconds(second))
            var isSent = false
            switch answer {
            case .use: isSent = true
            case .fail, .wait: break
            case .useAndRefresh, .fetch:
                asked += 1
                if case .useAndRefresh = answer { isSent = true }
                if outage.contains(second), failure == .hangs {
                    inProgress = second
                } else if case .success = endFetch(&cache, begun: second, now: second) {
                    isSent = true
                }
            }
            if !isSent { silent += interval }
        }
        return (silent, asked)
    }

    /// Prints the seconds without an update for each lifetime, start and length of the outage.
    @Test func printTheSecondsWithoutAnUpdate() {
        var lines: [String] = []
        for start in OutageStart.allCases {
            for (minutes, renewal) in Self.lifetimes {
                let cells = [30, 300, 3000].map { seconds in
                    let from = start == .afterRenewal ? 1 : renewal
                    let outcome = Self.simulateDrive(
                        lifetime: minutes * 60, outage: from..<from + seconds, failure: .refuses)
                    return "\(outcome.secondsWithoutUpdate) s"
                }
                lines.append("tokens of \(minutes) min, outage \(start): \(cells.joined(separator: ", "))")
            }
        }
        print("issuer outages of 30 s, 5 min, 50 min: nothing sent for\n" + lines.joined(separator: "\n"))
        #expect(lines.count == 6)
    }
}
