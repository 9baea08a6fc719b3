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

    /// `spacing` is the least distance between two marks.
    init(_ stops: [TrackStop], spacing: Double, pixel: (TrackStop) -> PlanePoint) {
        for (index, stop) in stops.enumerated() {
            let point = pixel(stop)
            if let near = marks.firstIndex(where: { ($0.point - point).length < spacing }) {
                marks[near].numbers.append(index + 1)
            } else {
                marks.append(Mark(point: point, numbers: [index + 1]))
            }
        }
    }
}
