/// The size of a drawing: for a wide or a narrow window. A page contains every drawing in both sizes and shows the one
/// that fits, because it can't measure its window without a script.
enum DrawingSize: String, CaseIterable, Sendable {
    case wide, narrow

    /// The width of the drawing in pixels. All lengths below are in pixels, too.
    var width: Double { self == .wide ? 1120 : 400 }
    /// The space on each side of the track.
    var margin: Double { self == .wide ? 52 : 24 }
    /// The minimum and maximum height of the track's area. They are chosen so that the map fits on a screen together
    /// with the figures above it and the legend below it.
    var trackHeights: ClosedRange<Double> { self == .wide ? 300...400 : 162...372 }
    /// The estimated width of a character in a label. The estimate is generous, so that no label is wider than
    /// expected.
    var characterWidth: Double { self == .wide ? 8.4 : 6.4 }
    var boldCharacterWidth: Double { self == .wide ? 10.8 : 8.5 }
    var lineHeight: Double { self == .wide ? 18 : 14 }
    /// The minimum distance between two grid lines.
    var gridDistance: Double { self == .wide ? 110 : 76 }
    /// The minimum distance between two times that are written on an axis.
    var timeDistance: Double { self == .wide ? 84 : 66 }
    /// The radius of a stop's marker.
    var markRadius: Double { self == .wide ? 9 : 8 }
}

/// The area that a map shows. The track is in the middle, north is up, and the scale is the same in both directions.
struct MapFrame: Sendable {
    let size: DrawingSize
    let width: Double
    let height: Double
    let metersPerPixel: Double
    /// The point in the middle of the map, in metres.
    private let center: PlanePoint

    /// The minimum number of metres per pixel. At a larger scale, the map of a parked vehicle would only show the noise
    /// of its receiver.
    private static let minimumMetersPerPixel = 0.05

    init(_ bounds: PlaneBounds, _ size: DrawingSize) {
        self.size = size
        center = bounds.center
        width = size.width
        let heights = size.trackHeights
        metersPerPixel = max(
            bounds.width / (size.width - 2 * size.margin), bounds.height / heights.upperBound,
            Self.minimumMetersPerPixel)
        height = (max(heights.lowerBound, bounds.height / metersPerPixel) + 2 * size.margin).rounded()
    }

    /// Returns the pixel at which a point in metres is drawn.
    func pixel(_ meters: PlanePoint) -> PlanePoint {
        PlanePoint(
            x: width / 2 + (meters.x - center.x) / metersPerPixel,
            y: height / 2 - (meters.y - center.y) / metersPerPixel)
    }
}
