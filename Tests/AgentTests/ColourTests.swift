import Testing

@testable import WaypostCommand

@Suite struct Colours {
    @Test(
        arguments: [
            (true, ["TERM": "xterm"], true), (false, ["TERM": "xterm"], false), (true, ["TERM": "dumb"], false),
            (true, [:], false), (true, ["TERM": "xterm", "NO_COLOR": "1"], false),
            (true, ["TERM": "xterm", "NO_COLOR": ""], true),
        ] as [(Bool, [String: String], Bool)])
    func areUsedOnlyOnTerminalsThatAllowThem(isTerminal: Bool, environment: [String: String], isShown: Bool) {
        #expect(Colour.isShown(isTerminal: isTerminal, environment: environment) == isShown)
    }

    @Test func distinguishSuccessFromFailure() {
        #expect(Colour(verdict: "ok")?.painting("ok") == "\u{1B}[32mok\u{1B}[0m")
        #expect(Colour(verdict: "FAIL")?.painting("FAIL") == "\u{1B}[31mFAIL\u{1B}[0m")
        #expect(
            [Colour(verdict: "note"), Colour(verdict: "skip"), Colour(verdict: "warning")] == [
                .yellow, .yellow, .yellow,
            ])
        #expect(Colour(verdict: "claim") == nil)
    }
}
