import BenchmarkReport

/// One case of the benchmark: medians of runs that took turns with the yardstick's.
struct Measurement {
    let name: String
    /// What the yardstick is.
    let reference: String
    var megabytesPerSecond: [Double] = []
    var referenceMegabytesPerSecond: [Double] = []
    var mallocsPerMillionSentences: Double = 0

    init(_ name: String, against reference: String) { (self.name, self.reference) = (name, reference) }

    /// Puts the case on standard output.
    func print() throws {
        try BenchmarkCase(name, Self.median(megabytesPerSecond), "MB/s")
            .against(reference, Self.median(referenceMegabytesPerSecond))
            .with("mallocsPerMillionSentences", mallocsPerMillionSentences).print()
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
