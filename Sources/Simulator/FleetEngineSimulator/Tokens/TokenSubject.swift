/// Whom a token is for; decides its private claims.
package enum TokenSubject: Sendable, Hashable {
    case driver(vehicleID: String)
    case deliveryDriver(vehicleID: String)
    case consumer(tripID: String)
    case deliveryConsumer(trackingID: String)
    case server
    case fleetReader

    /// The `authorization` object.
    var claims: [String: String] {
        switch self {
        case .driver(let id): ["vehicleid": id]
        case .deliveryDriver(let id): ["deliveryvehicleid": id]
        case .consumer(let id): ["tripid": id]
        case .deliveryConsumer(let id): ["trackingid": id]
        case .server: ["tripid": "*", "vehicleid": "*", "deliveryvehicleid": "*", "taskid": "*", "trackingid": "*"]
        case .fleetReader: ["deliveryvehicleid": "*", "taskid": "*", "trackingid": "*"]
        }
    }

    /// The id the token is bound to; `nil` for those that are bound to none.
    var id: String? {
        switch self {
        case .driver(let id), .deliveryDriver(let id), .consumer(let id), .deliveryConsumer(let id): id
        case .server, .fleetReader: nil
        }
    }

    /// For the record and the page.
    var name: String {
        switch self {
        case .driver: "driver"
        case .deliveryDriver: "delivery driver"
        case .consumer: "consumer"
        case .deliveryConsumer: "delivery consumer"
        case .server: "server"
        case .fleetReader: "fleet reader"
        }
    }

    /// From the path of the token endpoint, as `driver/van-7`; `nil` for an unknown one.
    init?(kind: String, id: String?) {
        switch (kind, id) {
        case ("driver", let id?): self = .driver(vehicleID: id)
        case ("delivery_driver", let id?): self = .deliveryDriver(vehicleID: id)
        case ("consumer", let id?): self = .consumer(tripID: id)
        case ("delivery_consumer", let id?): self = .deliveryConsumer(trackingID: id)
        case ("server", nil): self = .server
        case ("fleet_reader", nil): self = .fleetReader
        default: return nil
        }
    }
}
