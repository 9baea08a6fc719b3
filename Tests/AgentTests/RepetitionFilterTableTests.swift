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
                let (wasTold, again) = (topics.end("link"), topics.end("link"))
                #expect(wasTold && !again)
                continue
            }
            let count = topics.tell(words, of: "link", again: .seconds(600), at: .seconds(second))
            #expect(count == told, "at \(second) s")
        }
        let other = topics.tell("down", of: "disk", again: .seconds(600), at: .seconds(1206))
        #expect(other == 0)
    }

    @Test func repeatsNothingWithoutAnInterval() {
        var topics = RepetitionFilter()
        let counts = ["a", "a", "b"].enumerated().map { second, words in
            topics.tell(words, of: "state", again: nil, at: .seconds(second << 30))
        }
        #expect(counts == [0, nil, 0])
    }
}
