/// The two widths for which drawings are made: a page without a script cannot measure its window.
enum PageLayout: String, CaseIterable, Sendable {
    case wide, narrow

    /// Pixels.
    var width: Double { self == .wide ? 1120 : 400 }
    /// Width of a character of a label, in pixels; on the safe side.
    var characterWidth: Double { self == .wide ? 7 : 6.4 }
    var lineHeight: Double { self == .wide ? 16 : 14 }
    /// The least distance between two lines of a grid.
    var gridDistance: Double { self == .wide ? 110 : 76 }
    /// The least distance between two times on an axis.
    var timeDistance: Double { self == .wide ? 84 : 66 }
    /// Radius of a stop's mark.
    var markRadius: Double { self == .wide ? 9 : 8 }
}
