import GNSS

/// The marks of stops on a drawing. Stops whose marks would overlap share a mark.
struct StopMarks: Sendable {
    struct Mark: Sendable {
        let point: PlanePoint
        /// The numbers of the mark's stops in the list, from 1.
        var numbers: [Int]

        /// The text of the mark, such as `3`, `4–7` or, for stops that aren't consecutive, `1, 5` or `1, 5…`.
        var text: String {
            guard let first = numbers.first, let last = numbers.last, first < last else { return "\(numbers[0])" }
            if last - first == numbers.count - 1 { return "\(first)–\(last)" }
            return "\(first), \(numbers[1])\(numbers.count > 2 ? "…" : "")"
        }
    }

    private(set) var marks: [Mark] = []

    init(_ stops: [TrackStop], _ size: DrawingSize, pixel: (TrackStop) -> PlanePoint) {
        let height = 2 * size.markRadius + 4
        // If there are many stops, most marks are shared and therefore wide.
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
