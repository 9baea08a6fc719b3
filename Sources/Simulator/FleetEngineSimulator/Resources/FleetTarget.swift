import FleetEngine

/// What a request is about, read from its path behind `/v1`.
enum FleetTarget {
    case vehicles(provider: String, FleetService)
    case vehicle(ResourceName)
    case trip(provider: String, id: String)

    init(_ path: ArraySlice<String>) throws(Refusal) {
        let parts = Array(path)
        guard (3...4).contains(parts.count), parts[0] == "providers" else { throw Self.unknown }
        let service = FleetService.allCases.first { $0.collection == parts[2] }
        guard service != nil || (parts[2] == "trips" && parts.count == 4) else { throw Self.unknown }
        guard !parts[1].isEmpty else { throw .invalid(field: "name", "the provider is empty") }
        guard parts.count == 4 else {
            self = .vehicles(provider: parts[1], service ?? .onDemandTrips)
            return
        }
        if let problem = ResourceName.problem(withID: parts[3]) { throw .invalid(field: "name", problem) }
        if let service {
            self = .vehicle(ResourceName(provider: parts[1], service: service, id: parts[3]))
        } else {
            self = .trip(provider: parts[1], id: parts[3])
        }
    }

    var provider: String {
        switch self {
        case .vehicles(let provider, _), .trip(let provider, _): provider
        case .vehicle(let name): name.provider
        }
    }

    private static let unknown = Refusal.notFound("Method not found: there is no such path here")
}
