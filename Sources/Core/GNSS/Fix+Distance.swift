extension Fix {
    /// Metres to `other` on a sphere; within 0.5 % of the geodesic at the distances between two fixes of a vehicle.
    ///
    /// An equirectangular approximation: exact enough below a few hundred kilometres, and monotonic beyond, where only
    /// "impossibly far" matters.
    package func distance(to other: Fix) -> Double {
        let metersPerDegree = 111_195.0
        var east = other.longitude - longitude
        if east > 180 { east -= 360 } else if east < -180 { east += 360 }
        east *= Self.cosine(ofDegrees: (latitude + other.latitude) / 2)
        let north = other.latitude - latitude
        return (east * east + north * north).squareRoot() * metersPerDegree
    }

    /// Cosine on -90...90 degrees by its Taylor series to the twelfth power, error below 1e-8; Core imports no libm.
    private static func cosine(ofDegrees degrees: Double) -> Double {
        let x = degrees * .pi / 180
        let square = x * x
        var term = 1.0
        var sum = 1.0
        for power in stride(from: 2.0, through: 14.0, by: 2.0) {
            term *= -square / (power * (power - 1))
            sum += term
        }
        return sum
    }
}
