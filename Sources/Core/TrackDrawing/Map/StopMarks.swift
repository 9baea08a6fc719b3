import GNSS

/// Stops as marks of a drawing: those that would lie on each other share one.
struct StopMarks: Sendable {
    struct Mark: Sendable {
        let point: PlanePoint
        /// Their numbers in the list, from 1.
        var numbers: [Int]

        /// What fits beside a mark's neighbours.
        private static let longestText = 8

        /// As `3`, `4–7` or `1, 5–6`; of very many, the first ones: `1, 3, 5…`.
        var text: String {
            var text = ""
            for range in ranges {
                let next = range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)–\(range.upperBound)"
                guard !text.isEmpty else {
                    text = next
                    continue
                }
                guard text.count + 2 + next.count <= Self.longestText else { return "\(text)…" }
                text += ", \(next)"
            }
            return text
        }

        private var ranges: [ClosedRange<Int>] {
            numbers.reduce(into: []) { ranges, number in
                if let last = ranges.last, last.upperBound + 1 == number {
                    ranges[ranges.count - 1] = last.lowerBound...number
                } else {
                    ranges.append(number...number)
                }
            }
        }
    }

    private(set) var marks: [Mark] = []

    /// Above so many stops a mark is one for several, and wide, more often than not.
    private static let manyStops = 30

    /// Marks for stops whose pixel `pixel` tells, as they are laid out in a drawing.
    init(_ stops: [TrackStop], _ layout: PageLayout, pixel: (TrackStop) -> PlanePoint) {
        let height = 2 * layout.markRadius + 4
        let width = stops.count > Self.manyStops ? 8 * layout.characterWidth : height
        for (index, stop) in stops.enumerated() {
            let point = pixel(stop)
            if let near = marks.firstIndex(where: {
                abs($0.point.x - point.x) < width && abs($0.point.y - point.y) < height
            }) {
                marks[near].numbers.append(index + 1)
            } else {
                marks.append(Mark(point: point, numbers: [index + 1]))
            }
        }
    }
}
