import GNSS

/// The markers of stops on a drawing. Stops whose markers would overlap share a marker.
struct StopMarks: Sendable {
    struct Mark: Sendable {
        let point: PlanePoint
        /// The numbers of the stops that share this marker, counted from 1 in the list of stops.
        var numbers: [Int]

        /// The text of the marker, such as `3` or `4–7`. If the stops aren't consecutive, the text is `1, 5` or, if
        /// there are more than two, `1, 5…`.
        var text: String {
            guard let first = numbers.first, let last = numbers.last, first < last else { return "\(numbers[0])" }
            if last - first == numbers.count - 1 { return "\(first)–\(last)" }
            return "\(first), \(numbers[1])\(numbers.count > 2 ? "…" : "")"
        }
    }

    private(set) var marks: [Mark] = []

    init(_ stops: [TrackStop], _ size: DrawingSize, pixel: (TrackStop) -> PlanePoint) {
        let height = 2 * size.markRadius + 4
        // If there are many stops, most markers stand for several of them, so their text is wide.
        let width = stops.count > 30 ? 8 * size.characterWidth : height
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
