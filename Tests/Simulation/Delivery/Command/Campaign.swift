import LinuxPlatform

/// A run of many worlds on a few threads, until the given hours have been simulated or a law is broken.
struct Campaign: Sendable {
    static let defaultWorldHours = 24.0

    var seed: UInt64
    var hours: Double
    var worldHours: Double
    var excludedFaults: Set<FaultKind>
    var bug: PlantedBug?
    var threads: Int

    init(_ options: SimulationOptions) {
        (seed, hours, worldHours) = (options.seed, options.hours ?? 1000, options.worldHours)
        (excludedFaults, bug, threads) = (options.excludedFaults, options.bug, options.threads)
    }

    /// Returns the worlds' reports in order of their seeds, up to the first with a broken law. `progress` receives the
    /// number of finished worlds and the total.
    func run(progress: @Sendable @escaping (Int, Int) -> Void = { _, _ in }) async throws -> [WorldReport] {
        let count = max(1, Int((hours / worldHours).rounded(.up)))
        let length = min(hours, worldHours)
        let remaining = Locked(0..<count)
        let results = Locked([Int: WorldReport]())
        let failure = Locked<String?>(nil)
        await withDiscardingTaskGroup { group in
            for thread in 0..<min(threads, count) {
                group.addTask {
                    await onThread(named: "world-\(thread)") {
                        while let index = remaining.withLock({ $0.popFirst() }) {
                            let scenario = Scenario(
                                seed: seed &* 1_000_000 &+ UInt64(index), hours: length, excludedFaults: excludedFaults,
                                bug: bug)
                            do {
                                let report = try WorldReport(of: scenario)
                                let done = results.withLock { results in
                                    results[index] = report
                                    return results.count
                                }
                                progress(done, count)
                                if report.violation != nil { remaining.withLock { $0 = count..<count } }
                            } catch {
                                failure.withLock { $0 = "\(error)" }
                                return
                            }
                        }
                    }
                }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw CampaignError(description: failure) }
        let reports = results.withLock { $0 }.sorted { $0.key < $1.key }.map(\.value)
        let first = reports.firstIndex { $0.violation != nil }
        return Array(reports[..<(first.map { $0 + 1 } ?? reports.count)])
    }
}

/// The error of a world that could not be created, such as a missing directory for its disk.
struct CampaignError: Error, CustomStringConvertible { let description: String }
