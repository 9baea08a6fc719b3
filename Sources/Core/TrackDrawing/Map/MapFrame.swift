/// The width of a drawing. A page contains both widths and shows the one that fits, because it can't measure its window
/// without a script.
enum DrawingSize: String, CaseIterable, Sendable {
    case wide, narrow

    /// The width in pixels, which are the unit of all lengths below.
    var width: Double { self == .wide ? 1120 : 400 }
    /// The space around the track.
    var margin: Double { self == .wide ? 52 : 24 }
    /// The range of heights for the track's area, chosen so that the map fits a screen with the figures above and the
    /// legend below.
    var trackHeights: ClosedRange<Double> { self == .wide ? 300...400 : 162...372 }
    /// The width of a label's character, estimated generously.
    var characterWidth: Double { self == .wide ? 8.4 : 6.4 }
    var boldCharacterWidth: Double { self == .wide ? 10.8 : 8.5 }
    var lineHeight: Double { self == .wide ? 18 : 14 }
    /// The minimum distance between two lines of a grid.
    var gridDistance: Double { self == .wide ? 110 : 76 }
    /// The minimum distance between two times on an axis.
    var timeDistance: Double { self == .wide ? 84 : 66 }
    /// The radius of a stop's mark.
    var markRadius: Double { self == .wide ? 9 : 8 }
}

/// The area of a map in metres: the track in the middle, north up, with one scale in both directions.
struct MapFrame: Sendable {
    let size: DrawingSize
    let width: Double
    let height: Double
    let metersPerPixel: Double
    /// The point in the middle, in metres.
    private let center: PlanePoint

    /// The minimum scale. A larger scale would only show the noise of a parked receiver.
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

    /// Returns the pixel of a point in metres.
    func pixel(_ meters: PlanePoint) -> PlanePoint {
        PlanePoint(
            x: width / 2 + (meters.x - center.x) / metersPerPixel,
            y: height / 2 - (meters.y - center.y) / metersPerPixel)
    }
}
