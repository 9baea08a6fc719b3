/// Sine and cosine by polynomial: the C library's differ in the last bit from machine to machine.
enum Angle {
    static let radiansPerDegree = Double.pi / 180

    static func sine(_ radians: Double) -> Double {
        // To the nearest multiple of a half turn, where the odd series converges fast.
        let halfTurns = (radians / Double.pi).rounded()
        let x = radians - halfTurns * Double.pi
        let square = x * x
        var (term, sum) = (x, x)
        for step in 1...11 {
            let n = Double(2 * step)
            term *= -square / (n * (n + 1))
            sum += term
        }
        return halfTurns.truncatingRemainder(dividingBy: 2) == 0 ? sum : -sum
    }

    static func cosine(_ radians: Double) -> Double { sine(radians + Double.pi / 2) }
}
