/// Whom a token is for; decides its private claims.
package enum TokenSubject: Sendable, Hashable {
    case driver(vehicleID: String)
    /// A trusted driver's token names tasks, an untrusted one's does not.
    case deliveryDriver(vehicleID: String, taskIDs: [String])
    case consumer(tripID: String)
    case deliveryConsumer(trackingID: String)
    /// A consumer who follows one task instead of a shipment.
    case taskConsumer(taskID: String)
    case server
    case fleetReader

    /// The `authorization` object, without the list of tasks.
    var claims: [String: String] {
        switch self {
        case .driver(let id): ["vehicleid": id]
        case .deliveryDriver(let id, let tasks):
            tasks.count == 1 ? ["deliveryvehicleid": id, "taskid": tasks[0]] : ["deliveryvehicleid": id]
        case .consumer(let id): ["tripid": id]
        case .deliveryConsumer(let id): ["trackingid": id]
        case .taskConsumer(let id): ["taskid": id]
        case .server: ["tripid": "*", "vehicleid": "*", "deliveryvehicleid": "*", "taskid": "*", "trackingid": "*"]
        case .fleetReader: ["deliveryvehicleid": "*", "taskid": "*", "trackingid": "*"]
        }
    }

    /// The `taskids` claim: several tasks are a list.
    var taskIDs: [String] {
        if case .deliveryDriver(_, let tasks) = self, tasks.count > 1 { tasks } else { [] }
    }

    /// The id the token is bound to; `nil` for those that are bound to none.
    var id: String? {
        switch self {
        case .driver(let id), .deliveryDriver(let id, _), .consumer(let id), .deliveryConsumer(let id),
            .taskConsumer(let id):
            id
        case .server, .fleetReader: nil
        }
    }

    /// Every id that the token will name.
    var ids: [String] {
        if case .deliveryDriver(let id, let tasks) = self { [id] + tasks } else { [id].compactMap(\.self) }
    }

    /// For the record and the page.
    var name: String {
        switch self {
        case .driver: "driver"
        case .deliveryDriver(_, let tasks): tasks.isEmpty ? "delivery driver" : "trusted delivery driver"
        case .consumer: "consumer"
        case .deliveryConsumer, .taskConsumer: "delivery consumer"
        case .server: "server"
        case .fleetReader: "fleet reader"
        }
    }

    /// From the path of the token endpoint, as `driver/van-7`, and the tasks in its query; `nil` for an unknown one.
    init?(kind: String, id: String?, taskIDs: [String] = []) {
        switch (kind, id) {
        case ("driver", let id?): self = .driver(vehicleID: id)
        case ("delivery_driver", let id?): self = .deliveryDriver(vehicleID: id, taskIDs: taskIDs)
        case ("consumer", let id?): self = .consumer(tripID: id)
        case ("delivery_consumer", let id?): self = .deliveryConsumer(trackingID: id)
        case ("task_consumer", let id?): self = .taskConsumer(taskID: id)
        case ("server", nil): self = .server
        case ("fleet_reader", nil): self = .fleetReader
        default: return nil
        }
    }

    /// The same for somebody else: what a backend that mixes up its vehicles signs.
    var mistaken: TokenSubject {
        switch self {
        case .driver: .driver(vehicleID: "somebody-else")
        case .deliveryDriver(_, let tasks): .deliveryDriver(vehicleID: "somebody-else", taskIDs: tasks)
        case .consumer: .consumer(tripID: "somebody-else")
        case .deliveryConsumer: .deliveryConsumer(trackingID: "somebody-else")
        case .taskConsumer: .taskConsumer(taskID: "somebody-else")
        case .server, .fleetReader: self
        }
    }
}
