import FleetEngineSimulator
import LinuxPlatform
import ReceiverSimulator
import Testing
import WaypostTestSupport

/// `waypost run` on a host whose clock is wrong or is set during the run: a real process under libfaketime. The
/// process's timers remain right, as on such a host. `make clock-test` tests the same for longer, with tokens that
/// expire.
@Suite(.serialized, .timeLimit(.minutes(1)), .enabled(if: FakeClock.isUsable, FakeClock.requirement)) struct WrongClock
{
    @Test(arguments: ["@1970-01-01 00:01:00", "@2080-01-01 00:00:00"])
    func hasNoEffectOnDelivery(setting: String) async throws {
        let bench = try ServiceBench(faults: [("--token-life", "360")])
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let clock = try FakeClock(setting, in: bench.directory)
        let service = try clock.startService(config: bench.configure())
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        let address = try await service.statusAddress()
        for (number, epoch) in RecentDrive(epochs: 10).enumerated() {
            try receiver.send(epoch)
            // A time that differs this much from the host's clock is accepted once three fixes confirm it.
            if number < 2 {
                try #require(
                    await metrics(
                        at: address,
                        contain: "waypost_fixes_rejected_total{reason=\"unconfirmed_time\"} \(number + 1)\n"))
            } else {
                try #require(await bench.arrival(of: epoch) != nil)
            }
        }
        #expect(await bench.simulator.record.tokensIssued == 1)
        let warning = await service.errors.line(saying: "this host's clock is wrong: ")
        #expect(warning != nil)
        #expect(await service.terminate().ending == .exited(0))
    }

    /// The service can't detect that the receiver's clock is a year ahead. After that, the right time is accepted, even
    /// after a restart.
    @Test func doesNotKeepAWrongFutureTime() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let lives = [(Duration.seconds(365 * 86_400), "unconfirmed_time"), (.zero, "not_advancing")]
        for (ahead, reason) in lives {
            let service = try bench.start()
            try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
            let address = try await service.statusAddress()
            let drive = Array(RecentDrive(epochs: 3, ahead: ahead))
            for (number, epoch) in drive.enumerated() {
                try receiver.send(epoch)
                guard number < 2 else { break }
                let words = "waypost_fixes_rejected_total{reason=\"\(reason)\"} \(number + 1)\n"
                try #require(await metrics(at: address, contain: words))
            }
            let hasArrived = await bench.arrivals.wait { lines in
                lines.contains { $0.text.contains("\(drive[2].time)") && $0.text.contains("\"kind\":\"last\"") }
            }
            #expect(hasArrived)
            #expect(await service.terminate().ending == .exited(0))
        }
    }

    /// Polls the metrics until they contain `text`, or the test times out. Returns whether they do.
    private func metrics(at address: LocalAddress, contain text: String) async -> Bool {
        while !Task.isCancelled {
            let answer = await RawExchange.get("/metrics", from: address)
            if answer.text.contains(text) { return true }
        }
        return false
    }

    @Test func mayBeSetWhileTheServiceRuns() async throws {
        let bench = try ServiceBench(faults: [("--token-life", "360")])
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let clock = try FakeClock("+0", in: bench.directory)
        let service = try clock.startService(config: bench.configure())
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        let jumps = ["+0", "+3600", "+0", "-3600", "+0"]
        for (number, epoch) in RecentDrive(epochs: 5 * jumps.count).enumerated() {
            if number % 5 == 0 { try clock.set(jumps[number / 5]) }
            try receiver.send(epoch)
            try #require(await bench.arrival(of: epoch) != nil)
        }
        #expect(await bench.simulator.record.tokensIssued == 1)
        for words in ["this host's clock is wrong: ", "no longer: this host's clock is wrong"] {
            #expect(await service.errors.line(saying: words) != nil)
        }
        #expect(await service.terminate().ending == .exited(0))
    }
}
