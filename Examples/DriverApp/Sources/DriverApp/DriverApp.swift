import DriverAuthorization
import ModernProviders
import Waypost

/// An app that embeds Waypost with the token providers of its iOS counterpart.
@main
struct DriverApp {
    /// Runs the main run loop, which a `Timer` needs. An `async` function could not run it.
    static func main() {
        _ = Timer.scheduledTimer(withTimeInterval: 0.1, repeats: false) { _ in complain("the main run loop runs") }
        Task {
            do {
                try await run(Array(CommandLine.arguments.dropFirst()))
                exit(0)
            } catch {
                complain("\(error)")
                exit(1)
            }
        }
        RunLoop.main.run()
    }

    private static func run(_ words: [String]) async throws {
        guard words.count >= 3, let backend = URL(string: words[1]) else { throw Usage.wrong }
        if words[0] == "ask", words.count == 3 { return ask(words[2], AccessTokenProvider(backend: backend)) }
        let configuration = try Configuration(file: words[2])
        switch (words[0], words.dropFirst(3).first) {
        case ("drive-trips", nil):
            let provider = DriverSDKAuthorization(AccessTokenProvider(backend: backend))
            // The class caches its token itself, so Waypost may ask it at every update, as the Driver SDK does.
            try await Agent(configuration, authorization: provider, cachePolicy: .askingAtEveryUpdate).run()
        case ("drive-deliveries", nil):
            let provider = DriverSDKAuthorization(DeliveryTokenProvider(backend: backend))
            try await Agent(configuration, authorization: provider).run()
        case ("follow", let trip?):
            try await follow(trip, configuration, ConsumerSDKAuthorization(TripTokenProvider(backend: backend)))
        case ("follow-modern", let trip?):
            try await follow(trip, configuration, ConsumerSDKAuthorization(RiderTokenProvider(backend: backend)))
        default: throw Usage.wrong
        }
    }

    /// Asks the class directly, as an app's own tests do.
    private static func ask(_ vehicleID: String, _ provider: AccessTokenProvider) {
        var received: String?
        let answered = DispatchSemaphore(value: 0)
        provider.fetchToken(with: GMTDAuthorizationContext(vehicleID: vehicleID)) { token, _ in
            received = token
            answered.signal()
        }
        answered.wait()
        say(received.map { "a token of \($0.count) characters" } ?? "no token")
    }

    /// The passenger's side: prints each change until the trip is over.
    private static func follow(
        _ trip: String, _ configuration: Configuration, _ provider: ConsumerSDKAuthorization
    ) async throws {
        let follower = try Follower(configuration, .trip(trip), authorization: provider)
        await follower.run { event in
            switch event {
            case .changed(let trip):
                let place = trip.position.map { "\($0.latitude), \($0.longitude)" } ?? "no position yet"
                say("\(trip.status ?? "unknown") \(place)")
            case .silent(let silence): say("nothing new for \(silence)")
            case .trouble(let words): say(words)
            case .recovered: say("requests succeed again")
            }
        }
    }

    /// Writes a line at once, unlike `print`, which buffers lines.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    private static func complain(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }

    private enum Usage: Error, CustomStringConvertible {
        case wrong

        var description: String {
            """
            usage: DriverApp drive-trips|drive-deliveries BACKEND CONFIG
                   DriverApp follow|follow-modern BACKEND CONFIG TRIP
                   DriverApp ask BACKEND VEHICLE
            """
        }
    }
}
