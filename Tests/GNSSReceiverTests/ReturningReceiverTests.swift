import FoundationEssentials
import LinuxPlatform
import Reporting
import Testing
import WaypostTestSupport

@testable import GNSSReceiver

/// A serial endpoint that counts how often it is opened.
private final class CountingEndpoint: ReceiverEndpoint {
    private let endpoint: SerialEndpoint
    private let count = Locked(0)

    init(device: String) { endpoint = SerialEndpoint(device: device, baudRate: 9600) }

    var openings: Int { count.withLock { $0 } }
    var name: String { endpoint.name }

    func open(stoppingOn stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        count.withLock { $0 += 1 }
        return try endpoint.open(stoppingOn: stop)
    }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault {
        endpoint.fault(of: trouble, for: limit)
    }

    func makeDeviceWatch() -> DirectoryWatch? { endpoint.makeDeviceWatch() }
}

/// A receiver that is removed and returns under another number. The next attempt is an hour away, so only the
/// device's arrival can cause the line to be reopened.
@Suite(.timeLimit(.minutes(1))) struct ReturningReceiver {
    private let directory: TemporaryDirectory
    private let files = FileManager.default
    private let endpoint: CountingEndpoint
    private let source: LiveReceiver

    init() throws {
        directory = try TemporaryDirectory()
        endpoint = CountingEndpoint(device: directory.path("serial/by-id/usb-receiver"))
        source = LiveReceiver(
            endpoint: endpoint, decoder: SentenceDecoder(), schedule: ReopenSchedule(delays: [.seconds(3600)]))
    }

    private func plugIn() throws -> PseudoTerminal {
        let terminal = try PseudoTerminal()
        try files.createDirectory(atPath: directory.path("serial/by-id"), withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: endpoint.name, withDestinationPath: terminal.path)
        return terminal
    }

    /// Removes the link and its directory, as `/dev/serial/by-id` is removed with its last link.
    private func unplug(_ terminal: PseudoTerminal) throws {
        try files.removeItem(atPath: directory.path("serial"))
        terminal.unplug()
    }

    @Test func isNoticedAtOnce() async throws {
        try await observe(source) { observer in
            await observer.state(saying: "no such device")
            for second in 1...3 {
                let terminal = try plugIn()
                await observer.state(saying: "open at 9600 baud")
                try terminal.send(epoch(second: second))
                await observer.state(saying: "receiving")
                try unplug(terminal)
                #expect(await observer.state(saying: "no such device") != nil)
            }
            #expect(!observer.states.contains { $0.contains("closed by the other side") })
        }
    }

    @Test func isNoticedAmongManyChangesWithoutBusyWaiting() async throws {
        try await observe(source) { observer in
            await observer.state(saying: "no such device")
            for number in 0..<2000 {
                let other = try directory.write([], to: "other-\(number)")
                try files.removeItem(atPath: other)
            }
            let terminal = try plugIn()
            #expect(await observer.state(saying: "open at 9600 baud") != nil)
            // The first opening, the one after the watch began, and one per level of the path.
            #expect(endpoint.openings <= 5)
            withExtendedLifetime(terminal) {}
        }
    }
}
