import DriverAuthorization
import Foundation
import LinuxPlatform
import ReportedText
import Testing
import VehicleAuthorization
import WaypostTestSupport

@Suite(.timeLimit(.minutes(1))) struct DriverSDKAuthorizations {
    private let context = AuthorizationContext(vehicleID: "van-7", taskID: "-t1")

    @Test func answerFromTheCallersThread() async throws {
        let provider = DriverSDKAuthorization(CompletionProvider { $0("token of \($1)", nil) })
        #expect(try await provider.token(for: context) == AuthorizationToken(value: "token of van-7-t1", lifetime: nil))
    }

    @Test func answerFromAnyThread() async throws {
        let provider = DriverSDKAuthorization(
            CompletionProvider { completion, id in startThread(named: "app") { completion("token of \(id)", nil) } })
        #expect(try await provider.token(for: context).value == "token of van-7-t1")
    }

    @Test func answerOnceDespiteSeveralCallbacks() async throws {
        let reports = Locked([String]())
        let provider = DriverSDKAuthorization(
            CompletionProvider { completion, _ in
                completion("first", nil)
                completion("second", nil)
                completion(nil, CompletionProvider.Failure.missingAuthorizationContext)
            }, report: { warning in reports.withLock { $0.append("\(warning)") } })
        #expect(try await provider.token(for: context).value == "first")
        #expect(try await provider.token(for: context).value == "first")
        let warnings = reports.withLock { $0 }
        #expect(warnings.count == 2, "each breach is reported once: \(warnings)")
        #expect(warnings.contains { $0.contains("before its fetchToken returned") })
        #expect(warnings.contains { $0.contains("called back more than once") })
    }

    @Test func reportNothingIfTheContractIsKept() async throws {
        let reports = Locked(0)
        let provider = DriverSDKAuthorization(
            CompletionProvider { completion, id in startThread(named: "app") { completion("token of \(id)", nil) } },
            report: { _ in reports.withLock { $0 += 1 } })
        for _ in 0..<20 { _ = try await provider.token(for: context) }
        #expect(reports.withLock { $0 } == 0)
    }

    @Test func acceptAProviderWithAnAsyncForm() async throws {
        #expect(
            try await DriverSDKAuthorization(AsyncProvider { "token of \($0)" }).token(for: context).value
                == "token of van-7")
    }

    @Test func readTheLifetimeFromTheToken() async throws {
        let value = TestTokens.driver(vehicleID: "van-7", lifetime: 1800)
        #expect(
            try await DriverSDKAuthorization(AsyncProvider { _ in value }).token(for: context).lifetime
                == .seconds(1800))
    }

    /// The arguments of the provider's callback, and the caller's result.
    @Test(
        arguments: [
            (nil, false, .emptyAnswer),
            ("", false, .emptyAnswer),
            (nil, true, .failed("app, code 7")),
        ] as [(String?, Bool, ProviderFault)])
    func reportHowTheProviderFailed(token: String?, fails: Bool, fault: ProviderFault) async {
        let provider = DriverSDKAuthorization(
            CompletionProvider { completion, _ in
                completion(token, fails ? NSError(domain: "app", code: 7, userInfo: ["token": "secret"]) : nil)
            })
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: context) }
        #expect(error?.fault == .providerFailed(fault))
    }

    /// Errors of the app, and their messages.
    @Test(arguments: [
        (
            URLError(.notConnectedToInternet) as any Error & Sendable,
            "this machine is not connected to the Internet (URLError.notConnectedToInternet)"
        ),
        (NSError(domain: NSURLErrorDomain, code: -1001), "the request timed out (URLError.timedOut)"),
        (URLError(.cannotFindHost), "the host name cannot be resolved (URLError.cannotFindHost)"),
        (NSError(domain: NSURLErrorDomain, code: -4711), "URLError, code -4711"),
        (CompletionProvider.Failure.missingAuthorizationContext, "Failure.missingAuthorizationContext"),
        (CompletionProvider.Failure.refused(token: TestTokens.driver(vehicleID: "v")), "Failure.refused"),
        (NSError(domain: "com.example.app", code: 7, userInfo: ["token": "secret"]), "com.example.app, code 7"),
        (NSError(domain: TestTokens.driver(vehicleID: "v"), code: 7), "…, code 7"),
    ])
    func nameTheFault(error: any Error & Sendable, description: String) async {
        let provider = DriverSDKAuthorization(AsyncProvider { _ in throw error })
        let failure = await #expect(throws: AuthorizationError.self) { try await provider.token(for: context) }
        #expect(failure?.fault == .providerFailed(.failed(ReportedText(description))))
    }

    @Test func reportAProviderWithoutACompletionForm() async {
        let error = await #expect(throws: AuthorizationError.self) {
            try await DriverSDKAuthorization(EmptyProvider()).token(for: context)
        }
        #expect(error?.fault == .providerFailed(.noCompletionForm) && error?.code == .unusableAnswer)
    }

    @Test func timeOutWithoutACallback() async throws {
        let clock = ManualClock()
        let (entries, entering) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let provider = DriverSDKAuthorization(
            CompletionProvider { _, _ in entering.yield() }, timeLimit: .seconds(30), clock: clock)
        let asking = Task { try await provider.token(for: context) }
        for await _ in entries { break }
        for await sleep in clock.sleeps {
            #expect(sleep == .seconds(30))
            break
        }
        clock.advance(by: .seconds(30))
        let error = await #expect(throws: AuthorizationError.self) { try await asking.value }
        #expect(error?.code == .unavailable)
        #expect(error?.fault == .providerFailed(.notCalledBack(.seconds(30))))
    }

    /// A provider that loses its first completion handler and calls it when it is asked for another vehicle.
    @Test func ignoreALateAnswer() async throws {
        let clock = ManualClock()
        let (entries, entering) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(4))
        let kept = Locked<Completion?>(nil)
        let reports = Locked([String]())
        let provider = DriverSDKAuthorization(
            CompletionProvider { completion, id in
                let isFirst = kept.withLock { kept in
                    defer { kept = kept ?? completion }
                    return kept == nil
                }
                entering.yield()
                guard !isFirst else { return }
                if id == "van-8" { kept.withLock { $0 }?("token of van-7, late", nil) }
                startThread(named: "app") { completion("token of \(id)", nil) }
            }, timeLimit: .seconds(30), clock: clock,
            report: { warning in reports.withLock { $0.append("\(warning)") } })
        let asking = Task { try await provider.token(for: AuthorizationContext(vehicleID: "van-7")) }
        for await _ in entries { break }
        for await _ in clock.sleeps { break }
        clock.advance(by: .seconds(30))
        await #expect(throws: AuthorizationError.self) { try await asking.value }
        #expect(try await provider.token(for: AuthorizationContext(vehicleID: "van-8")).value == "token of van-8")
        #expect(reports.withLock { $0 }.count { $0.contains("did not call back") } == 1)
    }

    /// Ten vehicles request tokens at once from a slow provider, which is async or calls a completion
    /// handler.
    @Test(arguments: [true, false])
    func callTheProviderForOneContextAtATime(isAsync: Bool) async throws {
        let (entries, entering) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(16))
        let waiting = Locked([@Sendable () -> Void]())
        @Sendable func wait(_ answer: @escaping @Sendable () -> Void) {
            waiting.withLock { $0.append(answer) }
            entering.yield()
        }
        let provider =
            isAsync
            ? DriverSDKAuthorization(
                AsyncProvider { id in
                    await withCheckedContinuation { answered in wait { answered.resume() } }
                    return "token of \(id)"
                }, clock: ManualClock())
            : DriverSDKAuthorization(
                CompletionProvider { completion, id in wait { completion("token of \(id)", nil) } },
                clock: ManualClock())
        let ids = (0..<10).map { "van-\($0)" }
        await withTaskGroup(of: String?.self) { group in
            for id in ids {
                group.addImmediateTask { try? await provider.token(for: AuthorizationContext(vehicleID: id)).value }
            }
            for await _ in entries.prefix(10) {
                // Gives the other calls time to arrive.
                for _ in 0..<100 { await Task.yield() }
                #expect(waiting.withLock { $0.count } == 1)
                // Only one call is answered, because its answer may start the next call at once.
                let answer = waiting.withLock { $0.popLast() }
                answer?()
            }
            let tokens = await group.reduce(into: Set()) { $0.insert($1) }
            #expect(tokens == Set(ids.map { "token of \($0)" }))
        }
    }

    /// Two vehicles request tokens at once from a provider that is slow for the first. The second still has its whole
    /// timeout.
    @Test func startTheTimeoutOfAQueuedCallWhenItsTurnComes() async throws {
        let clock = ManualClock()
        let (entries, entering) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(4))
        let waiting = Locked<Completion?>(nil)
        let reports = Locked(0)
        let provider = DriverSDKAuthorization(
            CompletionProvider { completion, _ in
                waiting.withLock { $0 = completion }
                entering.yield()
            }, timeLimit: .seconds(30), clock: clock, report: { _ in reports.withLock { $0 += 1 } })
        let first = Task { try await provider.token(for: AuthorizationContext(vehicleID: "van-7")).value }
        for await _ in entries { break }
        let second = Task { try await provider.token(for: AuthorizationContext(vehicleID: "van-8")).value }
        for await _ in clock.sleeps.prefix(2) {}
        clock.advance(by: .seconds(20))
        waiting.withLock { $0 }?("first", nil)
        #expect(try await first.value == "first")
        for await _ in entries { break }
        clock.advance(by: .seconds(15))
        for _ in 0..<1000 { await Task.yield() }
        waiting.withLock { $0 }?("second", nil)
        #expect(try await second.value == "second")
        #expect(reports.withLock { $0 } == 0)
    }

    /// A provider that continues although it has timed out and its task is cancelled.
    @Test func doNotCallTheProviderAgainWhileItStillWorks() async throws {
        let clock = ManualClock()
        let (entries, entering) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(4))
        let opening = Locked<CheckedContinuation<Void, Never>?>(nil)
        let calls = Locked(0)
        let provider = DriverSDKAuthorization(
            AsyncProvider { id in
                if calls.withLock({
                    $0 += 1
                    return $0
                }) == 1 {
                    await withCheckedContinuation { continuation in
                        opening.withLock { $0 = continuation }
                        entering.yield()
                    }
                }
                return "token of \(id)"
            }, timeLimit: .seconds(30), clock: clock, report: { _ in })
        let asking = Task { try await provider.token(for: context) }
        for await _ in entries { break }
        for await _ in clock.sleeps { break }
        clock.advance(by: .seconds(30))
        await #expect(throws: AuthorizationError.self) { try await asking.value }
        let other = AuthorizationContext(vehicleID: "van-8")
        for _ in 0..<10 {
            let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: other) }
            #expect(error?.fault == .providerFailed(.busy))
        }
        #expect(calls.withLock { $0 } == 1)
        opening.withLock { $0 }?.resume()
        var token: AuthorizationToken?
        while token == nil, !Task.isCancelled { token = try? await provider.token(for: other) }
        #expect(token?.value == "token of van-8")
    }

    @Test func useATokenThatComesWithAnErrorAndReportIt() async throws {
        let reports = Locked([String]())
        let provider = DriverSDKAuthorization(
            CompletionProvider { completion, id in
                startThread(named: "app") {
                    completion("token of \(id)", CompletionProvider.Failure.missingAuthorizationContext)
                }
            }, report: { warning in reports.withLock { $0.append("\(warning)") } })
        for _ in 0..<2 { #expect(try await provider.token(for: context).value == "token of van-7-t1") }
        #expect(reports.withLock { $0 }.map { $0.contains("both a token and an error") } == [true])
    }

    /// A provider that blocks in fetchToken, on a semaphore for example.
    @Test func timeOutIfTheProviderBlocksItsThread() async throws {
        let clock = ManualClock()
        let (entries, entering) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(4))
        let opening = DispatchSemaphore(value: 0)
        let reports = Locked([String]())
        let provider = DriverSDKAuthorization(
            CompletionProvider { completion, id in
                entering.yield()
                opening.wait()
                opening.signal()
                startThread(named: "app") { completion("token of \(id)", nil) }
            }, timeLimit: .seconds(30), clock: clock,
            report: { warning in reports.withLock { $0.append("\(warning)") } })
        let asking = Task { try await provider.token(for: context) }
        for await _ in entries { break }
        let held = Task { try await provider.token(for: AuthorizationContext(vehicleID: "van-9")) }
        for await _ in clock.sleeps.prefix(2) {}
        clock.advance(by: .seconds(30))
        let error = await #expect(throws: AuthorizationError.self) { try await asking.value }
        #expect(error?.fault == .providerFailed(.notCalledBack(.seconds(30))))
        let wait = await #expect(throws: AuthorizationError.self) { try await held.value }
        #expect(wait?.fault == .providerFailed(.blockedByEarlierCall(.seconds(30))))
        #expect(reports.withLock { $0 }.map { $0.contains("it blocks the thread that calls it") } == [true])
        // While the provider is stuck, it isn't called again, and the caller gets an error at once.
        let other = AuthorizationContext(vehicleID: "van-8")
        let second = await #expect(throws: AuthorizationError.self) { try await provider.token(for: other) }
        #expect(second?.fault == .providerFailed(.busy))
        opening.signal()
        // Once the provider returns, it is usable again; its late answer is dropped.
        var token: AuthorizationToken?
        while token == nil, !Task.isCancelled { token = try? await provider.token(for: other) }
        #expect(token?.value == "token of van-8")
    }

    @Test func callTheProviderOncePerContextForAllCallers() async throws {
        let gate = Gate()
        let calls = Locked(0)
        let provider = DriverSDKAuthorization(
            AsyncProvider { vehicleID in
                calls.withLock { $0 += 1 }
                _ = await gate.pass()
                return "token of \(vehicleID)"
            }, clock: ManualClock())
        try await withThrowingTaskGroup(of: String.self) { group in
            for id in ["a", "a", "a", "b"] {
                // The tasks start at once, so that all of them have asked before the gate opens.
                group.addImmediateTask { try await provider.token(for: AuthorizationContext(vehicleID: id)).value }
            }
            for await _ in gate.arrivals { break }
            gate.open()
            var values: [String] = []
            for try await value in group { values.append(value) }
            #expect(values.sorted() == ["token of a", "token of a", "token of a", "token of b"])
        }
        #expect(calls.withLock { $0 } == 2)
    }

    /// A driver signs out while the provider still works on a call for that driver, whose caller has gone. The next
    /// driver doesn't get the answer to that call. A queued call is made later, and belongs to the next driver.
    @Test func discardTokensRequestedBeforeTokensWereForgotten() async throws {
        let (entries, entering) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(4))
        let calls = Locked([(id: String, completion: Completion)]())
        let provider = DriverSDKAuthorization(
            CompletionProvider { completion, id in
                calls.withLock { $0.append((id, completion)) }
                entering.yield()
            }, clock: ManualClock())
        /// Answers a call with a token that contains its vehicle, and the number of the call for that vehicle.
        func answer(_ index: Int) {
            let (label, completion) = calls.withLock { calls in
                let id = calls[index].id
                return ("\(id) \(calls[...index].count { $0.id == id })", calls[index].completion)
            }
            startThread(named: "app") { completion(label, nil) }
        }
        let (van7, van8) = (AuthorizationContext(vehicleID: "van-7"), AuthorizationContext(vehicleID: "van-8"))
        var entered = entries.makeAsyncIterator()
        let gone = Task { try await provider.token(for: van7) }
        await entered.next()
        gone.cancel()
        await #expect(throws: AuthorizationError.self) { try await gone.value }
        let queued = Task.immediate { try await provider.token(for: van8).value }
        for _ in 0..<100 { await Task.yield() }
        await provider.forgetTokens()
        let next = Task.immediate { try await provider.token(for: van7).value }
        let joining = Task.immediate { try await provider.token(for: van8).value }
        for _ in 0..<100 { await Task.yield() }
        answer(0)
        for index in 1...2 {
            await entered.next()
            answer(index)
        }
        #expect(try await next.value == "van-7 2")
        #expect(try await [queued.value, joining.value] == ["van-8 1", "van-8 1"])
        #expect(calls.withLock { $0.count } == 3)
    }

    @Test(arguments: [AuthorizationContext(tripID: "t"), AuthorizationContext(trackingID: "t")])
    func provideNoConsumerTokens(context: AuthorizationContext) async {
        let error = await #expect(throws: AuthorizationError.self) {
            try await DriverSDKAuthorization(AsyncProvider { $0 }).token(for: context)
        }
        #expect(error?.code == .missingContext)
    }

    @Test(arguments: [true, false])
    func stopWaitingWhenTheirCallerIsCancelled(isAsync: Bool) async {
        let clock = ManualClock()
        let gate = Gate()
        let provider =
            isAsync
            ? DriverSDKAuthorization(AsyncProvider { _ in await gate.pass() ? "late" : "" }, clock: clock)
            : DriverSDKAuthorization(CompletionProvider { _, _ in }, clock: clock)
        let asking = Task { try await provider.token(for: context) }
        for await _ in clock.sleeps { break }
        asking.cancel()
        let error = await #expect(throws: AuthorizationError.self) { try await asking.value }
        #expect(error?.code == .cancelled)
        // The provider answers now, or times out: no call waits forever.
        gate.open()
        clock.advance(by: .seconds(30))
    }

    @Test func requireAVehicle() async {
        let error = await #expect(throws: AuthorizationError.self) {
            try await DriverSDKAuthorization(AsyncProvider { $0 }).token(for: AuthorizationContext(vehicleID: ""))
        }
        #expect(error?.code == .missingContext)
    }

    @Test func callTheProviderOnceUnderACache() async throws {
        let calls = Locked(0)
        let provider = CachedAuthorization(
            DriverSDKAuthorization(
                AsyncProvider { vehicleID in
                    calls.withLock { $0 += 1 }
                    return TestTokens.driver(vehicleID: vehicleID)
                }), clock: ManualClock()
        ) { _ in }
        await withTaskGroup { group in
            for _ in 0..<50 { group.addTask { _ = try? await provider.token(for: context) } }
        }
        #expect(calls.withLock { $0 } == 1)
    }
}
