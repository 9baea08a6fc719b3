import Glibc
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@testable import GNSSReceiver

@Suite(.timeLimit(.minutes(1))) struct StandardInputReceivers {
    private let input: CInt
    private let writer: CInt

    init() throws {
        var ends: [CInt] = [0, 0]
        try valueOrSystemError("pipe") { unsafe pipe(&ends) }
        input = ends[0]
        writer = ends[1]
    }

    @Test func deliverFixesUntilTheInputEnds() async throws {
        let source = OwnedDescriptor(owning: input)
        let ending = try await observe(StandardInputReceiver(descriptor: source.raw)) { observer in
            do {
                let output = OwnedDescriptor(owning: writer)
                try output.writeAll(Array(epoch(second: 1).utf8).span)
                #expect(await observer.fix() != nil)
                try output.writeAll(Array(epoch(second: 2).utf8).span)
            }
            while await observer.next() != nil {}
            #expect(observer.seen.last == .state(.ended(source: "standard input")))
            #expect(observer.seen.dropLast().last?.isFix == true)
        }
        #expect(ending == nil)
    }

    /// The input that an upstream program wrote before it failed, and the error that the receiver reports.
    @Test(
        arguments: [
            ("", .line(source: "standard input", nil)),
            ("{\"class\":\"VERSION\"}\r\n", .line(source: "standard input", .otherSpeaker(.gpsd))),
            (
                sentence("GPGSV,1,1,01,02,45,090,40"),
                .log(name: "standard input", .noFix(FixAbsence(.noPositionSentences, isRecorded: false, leftOut: nil)))
            ),
        ] as [(String, FixSourceError.Reason)])
    func failWithoutAFix(text: String, reason: FixSourceError.Reason) async throws {
        let source = OwnedDescriptor(owning: input)
        let output = OwnedDescriptor(owning: writer)
        try output.writeAll(Array(text.utf8).span)
        _ = consume output
        let ending = await observe(StandardInputReceiver(descriptor: source.raw)) { observer in
            while await observer.next() != nil {}
        }
        #expect(ending?.code == .notALog && ending?.reason == reason)
    }

    @Test func leaveTheInputOpenWhenCancelled() async throws {
        let source = OwnedDescriptor(owning: input)
        let output = OwnedDescriptor(owning: writer)
        let ending = await observe(StandardInputReceiver(descriptor: source.raw)) { observer in
            await observer.state(saying: "open, waiting for the first sentence")
        }
        #expect(ending?.code == .cancelled)
        #expect(fcntl(source.raw, F_GETFD) >= 0)
        _ = consume output
    }

    @Test func failIfTheInputCannotBeRead() async throws {
        close(input)
        let output = OwnedDescriptor(owning: writer)
        // The writing end of a pipe without a reader: poll returns at once, but this end can't be read.
        let ending = await observe(StandardInputReceiver(descriptor: output.raw)) { observer in
            while await observer.next() != nil {}
        }
        #expect(ending?.code == .readFailed)
    }
}

extension FixSourceEvent {
    /// Whether the event is a fix.
    var isFix: Bool { if case .fix = self { true } else { false } }
}
