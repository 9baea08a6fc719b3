/// The room for labels on a drawing. A label for which there is no room next to its marker is left out.
struct LabelPlacement: Sendable {
    struct Place: Sendable, Hashable {
        /// The part of the text that is at `point`.
        enum Anchor: String, Sendable { case start, middle, end }
        let point: PlanePoint
        let anchor: Anchor
    }

    private let area: PlaneBounds
    private var taken: [PlaneBounds] = []
    /// Points of the track. The distance between consecutive ones is less than the height of a label.
    private var trackPoints: [PlanePoint] = []
    private static let spacing = 6.0

    init(width: Double, height: Double) {
        area = PlaneBounds(around: PlanePoint(x: width / 2, y: height / 2), width: width - 4, height: height - 4)
    }

    /// Reserves an area, so that no label is placed there.
    mutating func reserve(_ bounds: PlaneBounds) { taken.append(bounds) }

    /// Records a straight piece of the track. A label covers the track only if there is no other room for it.
    mutating func avoid(lineFrom start: PlanePoint, to end: PlanePoint) {
        let count = max(1, ((end - start).length / Self.spacing).rounded(.up))
        for index in 0...Int(count) {
            let point = start + (end - start) * (Double(index) / count)
            if let last = trackPoints.last, (point - last).length < Self.spacing / 2 { continue }
            trackPoints.append(point)
        }
    }

    /// Whether an area is inside the drawing and overlaps no reserved area.
    func isFree(_ bounds: PlaneBounds) -> Bool { area.contains(bounds) && !taken.contains(where: bounds.overlaps) }

    /// Finds and reserves a place for a label next to a marker, or a little farther away. Prefers a place that covers
    /// no track. Returns `nil` if there is no place.
    mutating func place(nextTo mark: PlanePoint, radius: Double, width: Double, height: Double) -> Place? {
        var covering: (place: Place, box: PlaneBounds)?
        for distance in [radius, 3 * radius] {
            let across = distance + 5
            let down = distance + 2 + height / 2
            let places: [(x: Double, y: Double, anchor: Place.Anchor)] = [
                (across, 0, .start), (-across, 0, .end), (0, -down, .middle), (0, down, .middle),
                (across, -down, .start), (across, down, .start), (-across, -down, .end), (-across, down, .end),
            ]
            for (x, y, anchor) in places {
                let point = mark + PlanePoint(x: x, y: y)
                let middle = PlanePoint(x: point.x + (x > 0 ? width / 2 : x < 0 ? -width / 2 : 0), y: point.y)
                let box = PlaneBounds(around: middle, width: width, height: height)
                guard isFree(box) else { continue }
                let place = Place(point: point, anchor: anchor)
                guard !coversTrack(box) else {
                    covering = covering ?? (place, box)
                    continue
                }
                taken.append(box)
                return place
            }
        }
        if let covering { taken.append(covering.box) }
        return covering?.place
    }

    private func coversTrack(_ box: PlaneBounds) -> Bool {
        trackPoints.contains { box.overlaps(PlaneBounds(around: $0, width: 1, height: 1)) }
    }
}
