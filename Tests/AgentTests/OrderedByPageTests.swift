import Reporting
import StrictJSON
import Testing
@testable import Waypost
import WaypostTestSupport

/// What a button of the page has the service do.
@Suite(.timeLimit(.minutes(1))) struct OrderedByPage {
    /// Lets a test say when a call returns.
    private final class Gate: Sendable {
        private let (opened, opening) = AsyncStream.makeStream(of: Never.self)
        private let (entries, entering) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

        func pass() async {
            entering.yield()
            for await _ in opened {}
        }

        func isReached() async { for await _ in entries { return } }
        func open() { opening.finish() }
    }

    private static func untilOver(_ orders: PageOrders, _ key: String) async {
        while orders.json[key]?.isNull == false { await Task.yield() }
    }

    @Test func isCarriedOutOnceAtATime() async throws {
        let clock = ManualClock()
        let gate = Gate()
        let orders = PageOrders(
            clock: MonotonicClock(clock),
            PageOrders.Means(
                check: { found in
                    found(CheckLine(.ok, "receiver", "there"))
                    await gate.pass()
                    found(CheckLine(.fail, "token", "no answer"))
                }, bundle: { ("", []) }))
        let running = Task { await orders.run() }
        #expect(orders.orderCheck() == nil)
        #expect(orders.orderCheck() == "a check is running already")
        await gate.isReached()
        clock.advance(by: .seconds(7))
        #expect(orders.json["checkingSeconds"]?.integerValue == 7)
        #expect(orders.json["lines"]?.arrayValue?.count == 1, "what is found is shown at once")
        gate.open()
        await Self.untilOver(orders, "checkingSeconds")
        #expect(orders.json["lines"]?[1]?["verdict"]?.stringValue == "FAIL")
        clock.advance(by: .seconds(29))
        #expect(orders.json["checkedSecondsAgo"]?.integerValue == 29)
        #expect(orders.orderCheck() == "the last check was a moment ago; wait half a minute")
        clock.advance(by: .seconds(1))
        #expect(orders.orderCheck() == nil)
        running.cancel()
        await running.value
    }

    /// As many lines as there may be, whatever a check has to say.
    @Test func keepsFewLines() async {
        let orders = PageOrders(
            clock: MonotonicClock(ManualClock()),
            PageOrders.Means(
                check: { found in for _ in 0..<10_000 { found(CheckLine(.note, "name", "text")) } },
                bundle: { ("", []) }))
        let running = Task { await orders.run() }
        #expect(orders.orderCheck() == nil)
        await Self.untilOver(orders, "checkingSeconds")
        #expect(orders.json["lines"]?.arrayValue?.count == 100)
        running.cancel()
        await running.value
    }

    @Test func makesOneBundleAtATime() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let orders = PageOrders(
            clock: MonotonicClock(clock),
            PageOrders.Means(
                check: { _ in },
                bundle: {
                    await gate.pass()
                    return ("waypost.tar", [1])
                }))
        let first = Task { await orders.bundle() }
        await gate.isReached()
        #expect(await orders.bundle() == nil)
        gate.open()
        #expect(await first.value?.bytes == [1])
        clock.advance(by: .seconds(29))
        #expect(await orders.bundle() == nil, "it asks the token backend, as a check does")
        clock.advance(by: .seconds(1))
        #expect(await orders.bundle()?.name == "waypost.tar", "it can be made again")
    }
}
