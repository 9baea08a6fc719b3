import LocationReporting

@testable import GNSSReceiver

/// What every live receiver is, for an endpoint of the test's own.
struct LiveSource: FixSource {
    let receiver: LiveReceiver

    func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        try await receiver.run(deliver: deliver)
    }
}
