import DriverAuthorization
import Foundation
import LinuxPlatform
import Testing
import VehicleAuthorization
import WaypostTestSupport

@Suite(.timeLimit(.minutes(1))) struct DriverProvider {
    private let context = AuthorizationContext(vehicleID: "van-7", taskID: "-t1")

    @Test func answersFromItsCallersThread() async throws {
        let provider = DriverTokenProvider(CompletionProvider { $0("token of \($1)", nil) })
        #expect(try await provider.token(for: context) == AuthorizationToken(value: "token of van-7-t1", lifetime: nil))
    }

    @Test func answersFromAnyThread() async throws {
        let provider = DriverTokenProvider(
            CompletionProvider { completion, id in startThread(named: "app") { completion("token of \(id)", nil) } })
        #expect(try await provider.token(for: context).value == "token of van-7-t1")
    }

    @Test func answersOnceHoweverOftenItCalls() async throws {
        let provider = DriverTokenProvider(
            CompletionProvider { completion, _ in
                completion("first", nil)
                completion("second", nil)
                completion(nil, CompletionProvider.Failure.missingAuthorizationContext)
            })
        #expect(try await provider.token(for: context).value == "first")
        #expect(try await provider.token(for: context).value == "first")
    }

    @Test func hasAnAsyncForm() async throws {
        #expect(
            try await DriverTokenProvider(AsyncProvider { "token of \($0)" }).token(for: context).value
                == "token of van-7")
    }

    @Test func readsTheLifeFromTheToken() async throws {
        let value = TestTokens.driver(vehicleID: "van-7", lifetime: 1800)
        #expect(
            try await DriverTokenProvider(AsyncProvider { _ in value }).token(for: context).lifetime == .seconds(1800))
    }

    /// What it calls back with, and what the caller gets.
    @Test(
        arguments: [
            (nil as String?, false, AuthorizationError.Code.unusableAnswer, "neither a token nor an error"),
            ("", false, .unusableAnswer, "neither a token nor an error"),
            (nil, true, .unavailable, "the provider failed: "),
        ])
    func failsInWords(token: String?, fails: Bool, code: AuthorizationError.Code, words: String) async {
        let provider = DriverTokenProvider(
            CompletionProvider { completion, _ in
                completion(token, fails ? NSError(domain: "app", code: 7, userInfo: ["token": "secret"]) : nil)
            })
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: context) }
        #expect(error?.code == code)
        #expect(error?.description.contains(words) == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func withoutAFormIsTold() async {
        let error = await #expect(throws: AuthorizationError.self) {
            try await DriverTokenProvider(EmptyProvider()).token(for: context)
        }
        #expect(error?.code == .unusableAnswer)
        #expect(error?.description.contains("implement it") == true)
    }

    @Test func thatNeverCallsIsGivenUp() async throws {
        let clock = ManualClock()
        let provider = DriverTokenProvider(CompletionProvider { _, _ in }, timeLimit: .seconds(30), clock: clock)
        let asking = Task { try await provider.token(for: context) }
        for await sleep in clock.sleeps {
            #expect(sleep == .seconds(30))
            break
        }
        clock.advance(by: .seconds(30))
        let error = await #expect(throws: AuthorizationError.self) { try await asking.value }
        #expect(error?.code == .unavailable)
        #expect(error?.description == "the provider did not call back within 30 s")
    }

    @Test(arguments: [true, false])
    func isLeftWhenItsCallerIsCancelled(isAsync: Bool) async {
        let clock = ManualClock()
        let gate = Gate()
        let provider =
            isAsync
            ? DriverTokenProvider(AsyncProvider { _ in await gate.pass() ? "late" : "" }, clock: clock)
            : DriverTokenProvider(CompletionProvider { _, _ in }, clock: clock)
        let asking = Task { try await provider.token(for: context) }
        for await _ in clock.sleeps { break }
        asking.cancel()
        let error = await #expect(throws: AuthorizationError.self) { try await asking.value }
        #expect(error?.code == .cancelled)
    }

    @Test func needsAVehicle() async {
        let error = await #expect(throws: AuthorizationError.self) {
            try await DriverTokenProvider(AsyncProvider { $0 }).token(for: AuthorizationContext(vehicleID: ""))
        }
        #expect(error?.code == .missingContext)
    }

    @Test func asksUnderACacheOnce() async throws {
        let calls = Locked(0)
        let provider = CachedAuthorization(
            DriverTokenProvider(
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
