import GNSS

/// Stops as marks of a drawing: those that would lie on each other share one.
struct StopMarks: Sendable {
    struct Mark: Sendable {
        let point: PlanePoint
        /// Their numbers in the list, from 1.
        var numbers: [Int]

        /// As `3`, or `3 +2` where two more stand in the same place.
        var text: String { numbers.count == 1 ? "\(numbers[0])" : "\(numbers[0]) +\(numbers.count - 1)" }
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
