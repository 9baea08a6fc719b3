package import HTTPMessages

/// The resource name of a trip, and with it the address at which a consumer reads it.
package struct TripName: Sendable, Hashable, CustomStringConvertible {
    package let providerID: String
    package let tripID: String

    /// The rules for ids are those of vehicles.
    package init(providerID: String, tripID: String) throws(VehicleName.Problem) {
        try VehicleName.validate(providerID)
        try VehicleName.validate(tripID)
        (self.providerID, self.tripID) = (providerID, tripID)
    }

    /// `providers/{provider}/trips/{trip}`, as answers have it.
    package var description: String { "providers/\(providerID)/trips/\(tripID)" }

    /// The address of the resource below `endpoint`.
    package func url(at endpoint: HTTPURL, query: String = "") throws(HTTPURL.Problem) -> HTTPURL {
        try endpoint.appending(
            target: "/v1/providers/\(HTTPURL.percentEncoded(providerID))/trips/\(HTTPURL.percentEncoded(tripID))"
                + (query.isEmpty ? "" : "?" + query))
    }
}
