package import FleetEngine
package import HTTPMessages
import ReportedText
package import Reporting
import TimeAndRandomness
package import VehicleAuthorization

/// A `Delivery` that sends a vehicle's updates to Fleet Engine. Each request is authorised by a token from
/// `authorization`.
package struct FleetEngineDelivery: Delivery {
    private let vehicle: VehicleName
    private let endpoint: HTTPURL
    private let limits: HTTPLimits
    private let authorization: any VehicleAuthorization
    private let transport: any HTTPTransport

    package init(
        of vehicle: VehicleName, to endpoint: HTTPURL, limits: HTTPLimits = HTTPLimits(),
        authorization: any VehicleAuthorization, transport: any HTTPTransport
    ) {
        self.vehicle = vehicle
        self.endpoint = endpoint
        self.limits = limits
        self.authorization = authorization
        self.transport = transport
    }

    package var hasPresence: Bool { vehicle.service == .onDemandTrips }

    package func prepare() async throws(DeliveryFault) -> any DeliveryPermit {
        TokenPermit(token: try await token(), delivery: self)
    }

    package func announce(_ presence: Presence) async throws(DeliveryFault) -> DeliveryResult {
        await send(VehicleUpdate(of: vehicle, state: VehicleState(presence)), with: try await token())
    }

    package func networkReturned() async {
        await authorization.networkReturned()
        transport.networkChanged()
    }

    private var context: AuthorizationContext { AuthorizationContext(vehicleID: vehicle.vehicleID) }

    private func token() async throws(DeliveryFault) -> AuthorizationToken {
        do { return try await authorization.token(for: context) } catch { throw .noPermit(MissingPermit(error)) }
    }

    fileprivate func send(
        _ batch: UploadBatch, as presence: Presence, secondsSinceFirstSent: Int?, with token: AuthorizationToken
    ) async -> DeliveryResult {
        let update = VehicleUpdate(
            of: vehicle, state: VehicleState(presence),
            lastLocation: VehicleLocation(batch.last, secondsSinceFirstSent: secondsSinceFirstSent),
            pastLocations: batch.past.map { VehicleLocation($0.update) })
        return await send(update, with: token)
    }

    private func send(_ update: VehicleUpdate, with token: AuthorizationToken) async -> DeliveryResult {
        let request: HTTPRequest
        do throws(HTTPURL.Problem) {
            request = try update.request(to: endpoint, token: token.value, limits: limits)
        } catch { return DeliveryResult(.held(.invalidAddress("\(endpoint): \(error)"))) }
        do throws(HTTPTransportError) {
            let response = try await transport.send(request)
            let outcome = DeliveryOutcome(of: response, to: request, for: vehicle)
            // Fleet Engine rejected the token, so it must not be used again.
            if case .prepareAgain = outcome { await authorization.discard(token, for: context) }
            return DeliveryResult(
                outcome, traffic: Traffic(response.traffic),
                serverTime: response.headers["Date"].flatMap(UTCTime.init(httpDate:)))
        } catch {
            return DeliveryResult(DeliveryOutcome(of: error, from: endpoint.origin), traffic: Traffic(error.traffic))
        }
    }
}

/// A permit to send one update with `token`.
private struct TokenPermit: DeliveryPermit {
    let token: AuthorizationToken
    let delivery: FleetEngineDelivery

    func deliver(
        _ batch: UploadBatch, as presence: Presence, secondsSinceFirstSent seconds: Int?
    ) async -> DeliveryResult {
        await delivery.send(batch, as: presence, secondsSinceFirstSent: seconds, with: token)
    }
}

extension VehicleState {
    /// Returns `nil` if the presence is unknown, so that the update contains no state.
    init?(_ presence: Presence) {
        switch presence {
        case .online: self = .online
        case .offline: self = .offline
        case .unknown: return nil
        }
    }
}

extension VehicleLocation {
    /// Converts an update to the location in Fleet Engine's form.
    init(_ update: LocationUpdate, secondsSinceFirstSent: Int? = nil) {
        self.init(
            latitude: update.latitude, longitude: update.longitude,
            timeMillisecondsSince1970: update.timeOfFix.millisecondsSince1970)
        accuracyMeters = update.horizontalAccuracyMeters
        headingDegrees = update.headingDegrees
        speedMetersPerSecond = update.speedMetersPerSecond
        altitudeMeters = update.altitudeMeters
        self.secondsSinceFirstSent = secondsSinceFirstSent
    }
}

extension Traffic {
    init(_ traffic: HTTPTraffic) {
        self.init(bytesSent: traffic.bytesSent, bytesReceived: traffic.bytesReceived)
    }
}
