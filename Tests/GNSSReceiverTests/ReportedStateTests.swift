import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

@testable import GNSSReceiver

/// Three times the same, then something else.
private final class RepeatingEndpoint: ReceiverEndpoint {
    private let attempts = Locked(0)
    private let opens: Bool

    init(opens: Bool) { self.opens = opens }

    var name: String { "line" }

    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        let attempt = attempts.withLock { attempts in
            attempts += 1
            return attempts
        }
        guard attempt <= 3 else { throw .notNow("enough") }
        guard opens else { throw .notNow("missing") }
        do { return try QuietLine() } catch { throw .notNow("\(error)") }
    }

    func complaint(about trouble: LineTrouble, for limit: Duration) -> String { "\(trouble)" }
}

/// An open line on which nothing ever comes.
private final class QuietLine: ReceiverLine {
    private let event: EventDescriptor

    init() throws(SystemError) { event = try EventDescriptor() }

    var raw: CInt { event.raw }
    var greeting: String { "open" }
    func read(into buffer: inout MutableSpan<UInt8>) -> LineRead { .nothingYet }
}

@Suite(.timeLimit(.minutes(1))) struct ReportedState {
    @Test(arguments: [
        (false, ["line: missing", "line: enough"]), (true, ["line: silence", "line: enough"]),
    ])
    func isToldOnceForManyAttempts(opens: Bool, states: [String]) async {
        let source = LiveReceiver(
            endpoint: RepeatingEndpoint(opens: opens), decoder: SentenceDecoder(), patience: .milliseconds(10))
        await observe(source) { observer in
            await observer.state(saying: "enough")
            // That the line is open may have been overtaken by its silence.
            #expect(observer.states.filter { $0 != "line: open" } == states)
            #expect(observer.states.filter { $0 == "line: open" }.count <= 1)
        }
    }
}
