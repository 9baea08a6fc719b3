import CMath

/// A projection onto a plane tangent to the earth at one point. Points on the plane are in metres east and north of
/// that point.
///
/// This is a stereographic projection of the sphere that `Fix.distance` uses. It preserves angles everywhere, and has
/// no seam at the date line or the poles. Lengths are accurate to 0.01 % within 100 km of the point, and to 1 % within
/// 1200 km.
struct LocalProjection: Sendable {
    /// The latitude and longitude of the point where the plane touches the earth, in degrees.
    let latitude: Double
    let longitude: Double

    private let sine: Double
    private let cosine: Double

    private static let earthRadius = 111_195.0 * 180 / Double.pi

    init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
        sine = cmath_sin(latitude * .pi / 180)
        cosine = cmath_cos(latitude * .pi / 180)
    }

    /// Returns the point on the plane for a latitude and a longitude in degrees. The antipode of the touching point
    /// would be infinitely far away, so the function returns a very distant point for it.
    func point(latitude: Double, longitude: Double) -> PlanePoint {
        let angle = latitude * .pi / 180
        let turn = (longitude - self.longitude) * .pi / 180
        let away = sine * cmath_sin(angle) + cosine * cmath_cos(angle) * cmath_cos(turn)
        let scale = 2 * Self.earthRadius / max(1 + away, 1e-9)
        return PlanePoint(
            x: scale * cmath_cos(angle) * cmath_sin(turn),
            y: scale * (cosine * cmath_sin(angle) - sine * cmath_cos(angle) * cmath_cos(turn)))
    }

    /// Returns the latitude and longitude of a point on the plane, in degrees.
    func place(of point: PlanePoint) -> (latitude: Double, longitude: Double) {
        let distance = point.length
        guard distance > 0 else { return (latitude, longitude) }
        let angle = 2 * cmath_atan2(distance, 2 * Self.earthRadius)
        let north = cmath_cos(angle) * sine + point.y * cmath_sin(angle) * cosine / distance
        let east = cmath_atan2(
            point.x * cmath_sin(angle), distance * cosine * cmath_cos(angle) - point.y * sine * cmath_sin(angle))
        var degrees = longitude + east * 180 / .pi
        if degrees > 180 { degrees -= 360 } else if degrees < -180 { degrees += 360 }
        return (cmath_asin(min(1, max(-1, north))) * 180 / .pi, degrees)
    }
}

/// A point on a plane. The coordinates are metres east and north of an origin, or pixels to the right and down.
struct PlanePoint: Sendable, Hashable {
    var x: Double
    var y: Double

    static func + (one: Self, other: Self) -> Self { Self(x: one.x + other.x, y: one.y + other.y) }
    static func - (one: Self, other: Self) -> Self { Self(x: one.x - other.x, y: one.y - other.y) }
    static func * (point: Self, scale: Double) -> Self { Self(x: point.x * scale, y: point.y * scale) }

    var length: Double { (x * x + y * y).squareRoot() }
}

/// A rectangle whose sides are parallel to the axes.
struct PlaneBounds: Sendable, Hashable {
    private(set) var low: PlanePoint
    private(set) var high: PlanePoint

    init(around center: PlanePoint, width: Double = 0, height: Double = 0) {
        let half = PlanePoint(x: width / 2, y: height / 2)
        low = center - half
        high = center + half
    }

    mutating func include(_ point: PlanePoint) {
        low.x = min(low.x, point.x)
        low.y = min(low.y, point.y)
        high.x = max(high.x, point.x)
        high.y = max(high.y, point.y)
    }

    var width: Double { high.x - low.x }
    var height: Double { high.y - low.y }
    var center: PlanePoint { (low + high) * 0.5 }

    func overlaps(_ other: Self) -> Bool {
        low.x < other.high.x && other.low.x < high.x && low.y < other.high.y && other.low.y < high.y
    }

    func contains(_ other: Self) -> Bool {
        low.x <= other.low.x && other.high.x <= high.x && low.y <= other.low.y && other.high.y <= high.y
    }
}
