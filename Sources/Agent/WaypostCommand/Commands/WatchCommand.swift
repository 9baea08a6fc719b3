import FleetEngine
import GNSS
import LinuxPlatform
import Waypost

/// `waypost watch`: the consumer's side of a trip or vehicle, a line for every change.
struct WatchCommand {
    private let configuration: Configuration
    private let subject: Follower.Subject
    private let asJSON: Bool

    init(_ arguments: Arguments) throws {
        switch (arguments.value("--trip"), arguments.value("--vehicle")) {
        case (let trip?, nil): subject = .trip(trip)
        case (nil, let vehicle?): subject = .vehicle(vehicle)
        case (nil, nil): throw UsageError("watch needs --trip ID or --vehicle ID", command: "watch")
        case (_?, _?): throw UsageError("watch takes --trip or --vehicle, not both", command: "watch")
        }
        asJSON = arguments.has("--json")
        configuration = try Configuration(file: arguments.value("--config") ?? "")
    }

    /// Ends when the trip does, or when told to stop.
    func run() async throws -> ExitStatus {
        try await Follower(configuration, subject).run { event in
            switch event {
            case .changed(let sighting):
                let line = SightingLine(sighting, now: .system)
                try StandardOutput.write(line: asJSON ? line.json : line.text)
            case .silent(let silence):
                Terminal.say("nothing new for \(Int(silence / .seconds(1))) s; an active vehicle reports once a minute")
            case .trouble(let words): Terminal.say("\(words) (asking again)")
            case .recovered: Terminal.say("it works again")
            }
        }
        return .done
    }
}
