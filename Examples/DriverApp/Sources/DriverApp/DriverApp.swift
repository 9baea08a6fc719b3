import DriverAuthorization
import Foundation
import Waypost

/// An app that embeds Waypost with the token providers of its iOS sister.
@main
struct DriverApp {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count >= 3, let backend = URL(string: words[1]) else { throw Usage.wrong }
        let configuration = try Configuration(file: words[2])
        switch (words[0], words.dropFirst(3).first) {
        case ("drive-trips", nil):
            try await drive(configuration, AccessTokenProvider(backend: backend, service: .trips))
        case ("drive-deliveries", nil):
            try await drive(configuration, AccessTokenProvider(backend: backend, service: .deliveries))
        case ("follow", let trip?): try await follow(trip, configuration, TripTokenProvider(backend: backend))
        default: throw Usage.wrong
        }
    }

    /// The driver's side: reports the receiver's position until it ends.
    private static func drive(_ configuration: Configuration, _ provider: sending AccessTokenProvider) async throws {
        try await Agent(configuration, authorization: DriverSDKAuthorization(provider)).run()
    }

    /// The passenger's side: prints each change until the trip is over.
    private static func follow(
        _ trip: String, _ configuration: Configuration, _ provider: sending TripTokenProvider
    ) async throws {
        let follower = try Follower(configuration, .trip(trip), authorization: ConsumerSDKAuthorization(provider))
        await follower.run { event in
            switch event {
            case .changed(let trip):
                let place = trip.position.map { "\($0.latitude), \($0.longitude)" } ?? "no position yet"
                say("\(trip.status ?? "unknown") \(place)")
            case .silent(let silence): say("nothing new for \(silence)")
            case .trouble(let words): say(words)
            case .recovered: say("it works again")
            }
        }
    }

    /// Writes a line at once, where `print` would keep it until there are many.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    private enum Usage: Error, CustomStringConvertible {
        case wrong

        var description: String {
            "usage: DriverApp drive-trips|drive-deliveries BACKEND CONFIG, or DriverApp follow BACKEND CONFIG TRIP"
        }
    }
}
