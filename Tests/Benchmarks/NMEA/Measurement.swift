import BenchmarkReport

/// One case of the benchmark: medians of runs that took turns with the yardstick's.
struct Measurement {
    let name: String
    /// What the yardstick is.
    let reference: String
    /// The least share of the yardstick's rate that is good enough.
    let floor: Double
    var megabytesPerSecond: [Double] = []
    var referenceMegabytesPerSecond: [Double] = []
    var mallocsPerMillionSentences: Double = 0

    init(_ name: String, against reference: String, atLeast floor: Double) {
        (self.name, self.reference, self.floor) = (name, reference, floor)
    }

    /// Puts the case on standard output.
    func print() throws {
        let limit = Self.median(referenceMegabytesPerSecond)
        try BenchmarkCase(name, Self.median(megabytesPerSecond), "MB/s")
            .against(reference, limit).keeping(.atLeast(limit * floor))
            .with("mallocsPerMillionSentences", mallocsPerMillionSentences).print()
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
