import Testing

@testable import Waypost

@Suite struct RepetitionFilterTable {
    /// What comes, when (`nil` ends the topic), and how often it came untold before, where it is told.
    private static let course: [(second: Int, words: String?, told: Int?)] = [
        (0, "down", 0), (1, "down", nil), (599, "down", nil), (600, "down", 2), (601, "down", nil),
        (602, "slow", 0), (603, "down", 0), (1202, "down", nil), (1203, "down", 1), (1204, nil, nil), (1205, "down", 0),
    ]

    @Test func tellsNewsAtOnceAndRepetitionsSeldom() {
        var topics = RepetitionFilter()
        for (second, words, told) in Self.course {
            guard let words else {
                let moment = Duration.seconds(second)
                let (wasTold, again) = (topics.end("link", at: moment), topics.end("link", at: moment))
                #expect(wasTold && !again)
                continue
            }
            let count = topics.tell(words, of: "link", again: .seconds(600), at: .seconds(second))
            #expect(count == told, "at \(second) s")
        }
        let other = topics.tell("down", of: "disk", again: .seconds(600), at: .seconds(1206))
        #expect(other == 0)
    }

    /// A link that comes and goes each ten seconds for an hour, and then stays.
    @Test func tellsWhatComesAndGoesSeldomAndAtLastHowItStands() {
        var topics = RepetitionFilter()
        var lines: [(second: Int, isDown: Bool)] = []
        for second in stride(from: 0, to: 3600, by: 10) {
            let now = Duration.seconds(second)
            if second % 20 == 0 {
                if topics.tell("down", of: "link", again: .seconds(600), at: now) != nil {
                    lines.append((second, true))
                }
            } else if topics.end("link", at: now) {
                lines.append((second, false))
            }
        }
        #expect(lines.count <= 7 * 6, "\(lines)")
        #expect(zip(lines, lines.dropFirst()).allSatisfy { $0.isDown || $1.isDown }, "two ends in a row")
        let known = lines.last
        let ends = stride(from: 3600, to: 4300, by: 10).filter { topics.end("link", at: .seconds($0)) }
        #expect(ends.count == (known?.isDown == true ? 1 : 0), "\(ends)")
    }

    @Test func tellsATroubleAgainThatBeganWhileThereWasNoRoom() {
        var topics = RepetitionFilter()
        for second in 0..<3 {
            _ = topics.tell("down", of: "link", again: .seconds(600), at: .seconds(second))
            _ = topics.end("link", at: .seconds(second))
        }
        let told = stride(from: 10, to: 700, by: 10).filter {
            topics.tell("down", of: "link", again: .seconds(600), at: .seconds($0)) != nil
        }
        #expect(told.first == 10 && told.count >= 2, "\(told)")
    }

    @Test func repeatsNothingWithoutAnInterval() {
        var topics = RepetitionFilter()
        let counts = ["a", "a", "b"].enumerated().map { second, words in
            topics.tell(words, of: "state", again: nil, at: .seconds(second << 30))
        }
        #expect(counts == [0, nil, 0])
    }
}
