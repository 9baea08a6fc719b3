/// One of the numbers of a circle.
struct CircleMember {
    let name: String
    let range: ClosedRange<Double>
    /// As "degrees from -90 to 90".
    let words: String
    /// Whether it says where the circle is.
    var isSecret = true

    static let all = [
        Self(name: "latitude", range: -90...90, words: "degrees from -90 to 90"),
        Self(name: "longitude", range: -180...180, words: "degrees from -180 to 180"),
        Self(name: "radiusMeters", range: 10...100_000, words: "metres from 10 to 100000", isSecret: false),
    ]
    /// Words of other programs.
    static let others = ["lng": "longitude", "lon": "longitude", "long": "longitude", "lat": "latitude"]
    static let example = #"[{ "latitude": 48.1, "longitude": 11.5, "radiusMeters": 200 }]"#
}
