import Testing

@testable import CurlTransport

@Suite struct Deadlines {
    @Test(
        arguments: [
            (Duration.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1001), 2),
            (.seconds(2), 2000), (.seconds(-1), 0), (.seconds(10_000_000_000), 1_000_000_000),
        ])
    func areRoundedUpToMilliseconds(duration: Duration, milliseconds: Int) {
        #expect(duration.wholeMilliseconds == milliseconds)
    }
}
