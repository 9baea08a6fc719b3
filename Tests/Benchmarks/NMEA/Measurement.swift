/// One case of the benchmark: medians of runs that took turns with the yardstick's.
struct Measurement {
    let name: String
    var megabytesPerSecond: [Double] = []
    var referenceMegabytesPerSecond: [Double] = []
    var mallocsPerMillionSentences: Double = 0

    init(_ name: String) { self.name = name }

    /// One JSON object on a line.
    var line: String {
        let own = Self.median(megabytesPerSecond)
        let reference = Self.median(referenceMegabytesPerSecond)
        return "{\"case\":\"\(name)\",\"megabytesPerSecond\":\(Self.rounded(own, 1)),"
            + "\"referenceMegabytesPerSecond\":\(Self.rounded(reference, 1)),"
            + "\"ratio\":\(Self.rounded(own / reference, 3)),"
            + "\"mallocsPerMillionSentences\":\(Self.rounded(mallocsPerMillionSentences, 1))}"
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func rounded(_ value: Double, _ decimals: Int) -> Double {
        let scale = decimals == 1 ? 10.0 : 1000.0
        return (value * scale).rounded() / scale
    }
}
