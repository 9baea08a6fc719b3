import Glibc
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@testable import GNSSReceiver

/// An endpoint that returns the same result three times, and then another one.
private final class RepeatingEndpoint: ReceiverEndpoint {
    private let attempts = Locked(0)
    private let opens: Bool

    init(opens: Bool) { self.opens = opens }

    var name: String { "line" }

    func open(stoppingOn stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        let attempt = attempts.withLock { attempts in
            attempts += 1
            return attempts
        }
        guard attempt <= 3 else { throw .failed(.deviceForbidden) }
        guard opens else { throw .failed(.deviceMissing) }
        do { return try QuietLine() } catch { throw .failed(.notOpened("\(error)")) }
    }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault { .lost("\(trouble)") }
}

/// An open line without bytes.
private final class QuietLine: ReceiverLine {
    private let event: EventDescriptor

    init() throws(SystemError) { event = try EventDescriptor() }

    var raw: CInt { event.raw }
    var start: ReceiverStart { .opened }
    func read(into buffer: inout MutableSpan<UInt8>) -> LineRead { .nothingYet }
}

@Suite(.timeLimit(.minutes(1))) struct ReportedState {
    @Test(arguments: [
        (false, [ReceiverFault.deviceMissing, .deviceForbidden]), (true, [.lost("silence"), .deviceForbidden]),
    ])
    func isReportedOncePerChange(opens: Bool, faults: [ReceiverFault]) async {
        let source = LiveReceiver(
            endpoint: RepeatingEndpoint(opens: opens), decoder: SentenceDecoder(), timeout: .milliseconds(10))
        await observe(source) { observer in
            while let event = await observer.next(), event != .state(.waiting(source: "line", .deviceForbidden)) {}
            // The state of the opened line may have been replaced by its silence.
            let opened = FixSourceEvent.state(.starting(source: "line", .opened))
            #expect(observer.seen.filter { $0 != opened } == faults.map { .state(.waiting(source: "line", $0)) })
            #expect(observer.seen.filter { $0 == opened }.count <= 1)
        }
    }
}
