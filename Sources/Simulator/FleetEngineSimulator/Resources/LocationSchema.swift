extension MessageSchema {
    /// `google.type.LatLng`, degrees on WGS 84.
    static let coordinate = MessageSchema(fields: [
        "latitude": FieldRule(.double(-90...90)), "longitude": FieldRule(.double(-180...180)),
    ])

    /// `VehicleLocation` and `DeliveryVehicleLocation`, which have the same fields.
    static let location = MessageSchema(fields: [
        "location": FieldRule(.message(coordinate)),
        "latlngAccuracy": FieldRule(FieldRule.accuracy),
        "heading": FieldRule(FieldRule.compass),
        "headingAccuracy": FieldRule(FieldRule.accuracy),
        "altitude": FieldRule(FieldRule.anyDouble),
        "altitudeAccuracy": FieldRule(FieldRule.accuracy),
        "speed": FieldRule(FieldRule.anyDouble),  // a receiver's small negative speeds are accepted
        "speedAccuracy": FieldRule(FieldRule.accuracy),
        "updateTime": FieldRule(.timestamp),
        "serverTime": FieldRule(.timestamp, .outputOnly),
        "locationSensor": FieldRule(sensor),
        "isRoadSnapped": FieldRule(.bool),
        "isGpsSensorEnabled": FieldRule(.bool, .inputOnly),
        "timeSinceUpdate": FieldRule(.int32(0...Int64(Int32.max)), .inputOnly),
        "numStaleUpdates": FieldRule(.int32(0...Int64(Int32.max)), .inputOnly),
        "rawLocation": FieldRule(.message(coordinate)),
        "rawLocationTime": FieldRule(.timestamp),
        "rawLocationSensor": FieldRule(sensor),
        "rawLocationAccuracy": FieldRule(FieldRule.accuracy),
        "supplementalLocation": FieldRule(.message(coordinate)),
        "supplementalLocationTime": FieldRule(.timestamp),
        "supplementalLocationSensor": FieldRule(sensor),
        "supplementalLocationAccuracy": FieldRule(FieldRule.accuracy),
        "flpLocation": FieldRule(.message(coordinate)),
        "flpUpdateTime": FieldRule(.timestamp),
        "flpLatlngAccuracyMeters": FieldRule(FieldRule.accuracy),
        "flpHeadingDegrees": FieldRule(FieldRule.compass),
        "speedKmph": FieldRule(FieldRule.anyInt32),
        "horizontalAccuracy": FieldRule(FieldRule.accuracy),
        "bearingAccuracy": FieldRule(FieldRule.accuracy),
        "verticalAccuracy": FieldRule(FieldRule.accuracy),
        "roadSnapped": FieldRule(.bool),
    ])

    private static let sensor = FieldRule.Kind.enumeration(
        [
            "UNKNOWN_SENSOR": 0, "GPS": 1, "NETWORK": 2, "PASSIVE": 3, "ROAD_SNAPPED_LOCATION_PROVIDER": 4,
            "CUSTOMER_SUPPLIED_LOCATION": 5, "FLEET_ENGINE_LOCATION": 6, "FUSED_LOCATION_PROVIDER": 100,
            "CORE_LOCATION": 200,
        ], refused: ["FLEET_ENGINE_LOCATION"])
}
