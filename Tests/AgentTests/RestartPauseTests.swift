import Testing

@testable import WaypostCommand

@Suite struct RestartPauses {
    @Test(arguments: [(0, 0), (1, 5), (2, 10), (11, 55), (1000, 55), (-1, 0)])
    func growToAMinuteWithTheFiveSecondsOfSystemd(restarts: Int, seconds: Int) {
        #expect(RestartPause.duration(afterRestarts: restarts) == .seconds(seconds))
    }
}
