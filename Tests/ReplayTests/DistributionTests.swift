import Testing

@testable import Replay

@Suite struct Distributions {
    @Test(arguments: [(0.5, 5000.0), (0.95, 9500), (1, 10_000), (0.0001, 1)])
    func haveAccurateQuantiles(share: Double, value: Double) throws {
        var values = Distribution(from: 0.01, to: 1e6, step: 1.01)
        #expect(values.quantile(share) == nil)
        for number in 1...10_000 { values.add(Double(number)) }
        let found = try #require(values.quantile(share))
        #expect((value * 0.999...value * 1.011).contains(found), "\(found)")
        #expect(values.count == 10_000 && values.maximum == 10_000)
    }

    /// Values outside the range are also counted, and the maximum is kept exactly.
    @Test(arguments: [-1.0, 0, 1e-9, 1e12, .infinity]) func acceptAnyValue(value: Double) {
        var values = Distribution(from: 0.01, to: 1e6, step: 1.01)
        values.add(value)
        #expect(values.count == 1 && values.maximum == max(0, value) && values.quantile(0.5) != nil)
    }
}
