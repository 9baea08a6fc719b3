extension MessageSchema {
    /// The schema of `maps.fleetengine.v1.Vehicle`.
    static let vehicle = MessageSchema(fields: [
        "name": FieldRule(.string, .outputOnly),
        "vehicleState": FieldRule(.enumeration(["UNKNOWN_VEHICLE_STATE": 0, "OFFLINE": 1, "ONLINE": 2])),
        "supportedTripTypes": FieldRule(.list(.enumeration(["UNKNOWN_TRIP_TYPE": 0, "SHARED": 1, "EXCLUSIVE": 2]))),
        "currentTrips": FieldRule(.list(.string), .outputOnly),
        "lastLocation": FieldRule(.message(location)),
        "pastLocations": FieldRule(.list(.message(location)), .inputOnly),
        "maximumCapacity": FieldRule(.int32(1...Int64(Int32.max))),
        "availableCapacity": FieldRule(FieldRule.anyInt32, .outputOnly),
        "attributes": FieldRule(.list(.message(attribute), maximumCount: 100)),
        "vehicleType": FieldRule(
            .message(
                MessageSchema(fields: [
                    "category": FieldRule(
                        .enumeration([
                            "UNKNOWN": 0, "AUTO": 1, "TAXI": 2, "TRUCK": 3, "TWO_WHEELER": 4, "BICYCLE": 5,
                            "PEDESTRIAN": 6,
                        ]))
                ]))),
        "licensePlate": FieldRule(
            .message(
                MessageSchema(fields: ["countryCode": FieldRule(.string), "lastCharacter": FieldRule(.string)]))),
        "currentRouteSegment": FieldRule(.string),
        "currentRouteSegmentVersion": FieldRule(.timestamp, .outputOnly),
        "currentRouteSegmentEndPoint": FieldRule(.route),
        "currentRouteSegmentTraffic": FieldRule(.route, .inputOnly),
        "remainingDistanceMeters": FieldRule(FieldRule.anyInt32),
        "etaToFirstWaypoint": FieldRule(.timestamp),
        "remainingTimeSeconds": FieldRule(FieldRule.anyInt32, .inputOnly),
        "waypoints": FieldRule(.list(.route)),
        "waypointsVersion": FieldRule(.timestamp, .outputOnly),
        "backToBackEnabled": FieldRule(.bool),
        "navigationStatus": FieldRule(navigationStatus),
        "deviceSettings": FieldRule(.message(deviceSettings), .inputOnly),
    ])

    /// The schema of `maps.fleetengine.delivery.v1.DeliveryVehicle`, which has no vehicle state.
    static let deliveryVehicle = MessageSchema(fields: [
        "name": FieldRule(.string, .outputOnly),
        "lastLocation": FieldRule(.message(location)),
        "pastLocations": FieldRule(.list(.message(location)), .inputOnly),
        "navigationStatus": FieldRule(navigationStatus),
        "currentRouteSegment": FieldRule(.bytes),
        "currentRouteSegmentEndPoint": FieldRule(.message(coordinate)),
        "remainingDistanceMeters": FieldRule(FieldRule.anyInt32),
        "remainingDuration": FieldRule(.duration),
        "remainingVehicleJourneySegments": FieldRule(.list(.route)),
        "attributes": FieldRule(.list(.message(attribute), maximumCount: 100)),
        "type": FieldRule(
            .enumeration([
                "DELIVERY_VEHICLE_TYPE_UNSPECIFIED": 0, "AUTO": 1, "TWO_WHEELER": 2, "BICYCLE": 3, "PEDESTRIAN": 4,
            ])),
    ])

    private static let attribute = MessageSchema(fields: [
        "key": FieldRule(.string), "value": FieldRule(.string), "stringValue": FieldRule(.string),
        "boolValue": FieldRule(.bool), "numberValue": FieldRule(FieldRule.anyDouble),
    ])

    private static let navigationStatus = FieldRule.Kind.enumeration([
        "UNKNOWN_NAVIGATION_STATUS": 0, "NO_GUIDANCE": 1, "ENROUTE_TO_DESTINATION": 2, "OFF_ROUTE": 3,
        "ARRIVED_AT_DESTINATION": 4,
    ])

    private static let deviceSettings = MessageSchema(fields: [
        "locationPowerSaveMode": FieldRule(
            .enumeration([
                "UNKNOWN_LOCATION_POWER_SAVE_MODE": 0, "LOCATION_MODE_ALL_DISABLED_WHEN_SCREEN_OFF": 1,
                "LOCATION_MODE_FOREGROUND_ONLY": 2, "LOCATION_MODE_GPS_DISABLED_WHEN_SCREEN_OFF": 3,
                "LOCATION_MODE_NO_CHANGE": 4, "LOCATION_MODE_THROTTLE_REQUESTS_WHEN_SCREEN_OFF": 5,
            ])),
        "isPowerSaveMode": FieldRule(.bool),
        "isInteractive": FieldRule(.bool),
        "batteryInfo": FieldRule(
            .message(
                MessageSchema(fields: [
                    "batteryStatus": FieldRule(
                        .enumeration([
                            "UNKNOWN_BATTERY_STATUS": 0, "BATTERY_STATUS_CHARGING": 1, "BATTERY_STATUS_DISCHARGING": 2,
                            "BATTERY_STATUS_FULL": 3, "BATTERY_STATUS_NOT_CHARGING": 4, "BATTERY_STATUS_POWER_LOW": 5,
                        ])),
                    "powerSource": FieldRule(
                        .enumeration([
                            "UNKNOWN_POWER_SOURCE": 0, "POWER_SOURCE_AC": 1, "POWER_SOURCE_USB": 2,
                            "POWER_SOURCE_WIRELESS": 3, "POWER_SOURCE_UNPLUGGED": 4,
                        ])),
                    "batteryPercentage": FieldRule(.double(0...100)),
                ]))),
    ])
}

extension MessageSchema {
    /// The schema of `google.type.LatLng`, in degrees on WGS 84.
    static let coordinate = MessageSchema(fields: [
        "latitude": FieldRule(.double(-90...90)), "longitude": FieldRule(.double(-180...180)),
    ])

    /// The schema of `VehicleLocation` and `DeliveryVehicleLocation`, which have the same fields.
    static let location = MessageSchema(fields: [
        "location": FieldRule(.message(coordinate)),
        "latlngAccuracy": FieldRule(FieldRule.accuracy),
        "heading": FieldRule(FieldRule.heading),
        "headingAccuracy": FieldRule(FieldRule.accuracy),
        "altitude": FieldRule(FieldRule.anyDouble),
        "altitudeAccuracy": FieldRule(FieldRule.accuracy),
        "speed": FieldRule(FieldRule.anyDouble),  // a receiver may report small negative speeds
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
        "flpHeadingDegrees": FieldRule(FieldRule.heading),
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
        ], reserved: ["FLEET_ENGINE_LOCATION"])
}
