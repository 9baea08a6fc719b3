/// A number in the JSON object of a circle, with its allowed range.
struct CircleMember {
    let name: String
    let range: ClosedRange<Double>
    /// The allowed range with its unit, such as "degrees from -90 to 90".
    let rangeText: String

    static let all = [
        Self(name: "latitude", range: -90...90, rangeText: "degrees from -90 to 90"),
        Self(name: "longitude", range: -180...180, rangeText: "degrees from -180 to 180"),
        Self(name: "radiusMeters", range: 10...100_000, rangeText: "metres from 10 to 100000"),
    ]
    static let example = #"{ "latitude": 48.1, "longitude": 11.5, "radiusMeters": 200 }"#
}
