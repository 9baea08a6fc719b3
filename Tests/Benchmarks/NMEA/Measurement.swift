import BenchmarkReport

/// A case of the benchmark: the medians of runs that alternate with runs of a reference.
struct Measurement {
    let name: String
    /// The description of the reference.
    let reference: String
    /// The minimum share of the reference's rate.
    let floor: Double
    var megabytesPerSecond: [Double] = []
    var referenceMegabytesPerSecond: [Double] = []
    var mallocsPerMillionSentences: Double = 0

    init(_ name: String, against reference: String, atLeast floor: Double) {
        self.name = name
        self.reference = reference
        self.floor = floor
    }

    /// Prints the case to standard output.
    func print() throws {
        let limit = Self.median(referenceMegabytesPerSecond)
        try BenchmarkCase(name, Self.median(megabytesPerSecond), "MB/s")
            .against(reference, limit: limit).keeping(.atLeast(limit * floor))
            .addingFigure("mallocsPerMillionSentences", value: mallocsPerMillionSentences).print()
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
