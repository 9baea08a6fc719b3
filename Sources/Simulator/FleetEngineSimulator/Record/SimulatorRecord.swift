package import FleetEngine

/// Everything that arrived and what was answered, bounded in memory: counts are complete, lists are the newest.
package struct SimulatorRecord: Sendable {
    static let maximumRecent = 100

    package private(set) var vehicles: [ResourceName: VehicleRecord] = [:]
    /// Requests for tokens and to Fleet Engine by outcome: `200`, `503`, `reset`, …
    package private(set) var tokenOutcomes: [String: Int] = [:]
    package private(set) var fleetOutcomes: [String: Int] = [:]
    package private(set) var recentRequests: [RequestRecord] = []
    package private(set) var tokensIssued = 0
    package private(set) var recentTokens: [TokenRecord] = []
    package private(set) var bytesReceived = 0
    package private(set) var bytesSent = 0

    package var tokenRequests: Int { tokenOutcomes.values.reduce(0, +) }
    package var fleetRequests: Int { fleetOutcomes.values.reduce(0, +) }

    /// Every distinct fix time that was delivered for a vehicle, in order.
    package func fixTimes(of vehicle: ResourceName) -> [WireTime] { vehicles[vehicle]?.fixTimes ?? [] }

    mutating func add(_ update: AcceptedUpdate, at now: WireTime) {
        vehicles[update.vehicle, default: VehicleRecord()].add(update, at: now)
    }

    mutating func add(_ request: RequestRecord, isForToken: Bool) {
        if isForToken {
            tokenOutcomes[request.outcome, default: 0] += 1
        } else {
            fleetOutcomes[request.outcome, default: 0] += 1
        }
        bytesReceived += request.bytesReceived
        bytesSent += request.bytesSent
        Self.append(request, to: &recentRequests)
    }

    mutating func add(_ token: TokenRecord) {
        tokensIssued += 1
        Self.append(token, to: &recentTokens)
    }

    private static func append<Element>(_ element: Element, to list: inout [Element]) {
        if list.count >= maximumRecent { list.removeFirst(list.count - maximumRecent + 1) }
        list.append(element)
    }
}
