import FleetEngine
import HTTPMessages
import HTTPService

/// The query parameters of a Fleet Engine request; an unknown one is refused.
struct FleetQuery {
    private var parameters: [String: String] = [:]

    private static let headerFields: Set<String> = [
        "languageCode", "regionCode", "sdkVersion", "osVersion", "deviceModel", "sdkType", "mapsSdkVersion",
        "navSdkVersion", "platform", "manufacturer", "androidApiLevel", "traceId",
    ]
    private static let names: Set<String> = [
        "updateMask", "vehicleId", "deliveryVehicleId", "currentRouteSegmentVersion", "waypointsVersion", "alt",
        "prettyPrint", "$alt",
    ]

    init(_ request: ServedRequest) throws(Refusal) {
        guard let items = request.queryItems else { throw .invalid("the query's percent-encoding is malformed") }
        for (written, value) in items {
            let name = written == "update_mask" ? "updateMask" : written
            let isHeader = name.hasPrefix("header.") && Self.headerFields.contains(String(name.dropFirst(7)))
            guard Self.names.contains(name) || isHeader else {
                throw .invalid(
                    field: written,
                    "Unknown name \"\(written)\": Cannot bind query parameter. Field could not be found.")
            }
            guard parameters.updateValue(value, forKey: name) == nil else {
                throw .invalid(field: written, "the parameter stands twice")
            }
        }
        if parameters.keys.contains(where: { $0.hasPrefix("header.") }), parameters["header.regionCode"] == nil {
            throw .invalid(field: "header.regionCode", "is required when a header is sent")
        }
    }

    var updateMask: String? { parameters["updateMask"] }

    func newVehicleID(_ service: FleetService) -> String? { parameters[service.idParameter] }

    static func checkContentType(_ request: ServedRequest) throws(Refusal) {
        let type = request.headers["Content-Type"]?.split(separator: ";").first?.lowercased()
        guard type == "application/json" else {
            throw .invalid("The body must be JSON: send Content-Type: application/json, not \(type ?? "nothing").")
        }
    }
}
