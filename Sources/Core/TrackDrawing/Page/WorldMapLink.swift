/// A link to a place on a world map, for the reader to follow; the page itself asks for nothing there.
package enum WorldMapLink {
    /// OpenStreetMap with a mark at the place.
    package static func address(latitude: Double, longitude: Double) -> String {
        let (latitude, longitude) = (FigureText.decimal(latitude, 5), FigureText.decimal(longitude, 5))
        return
            "https://www.openstreetmap.org/?mlat=\(latitude)&mlon=\(longitude)#map=17/\(latitude)/\(longitude)"
    }

    /// The place in degrees, as a link.
    package static func place(latitude: Double, longitude: Double) -> Markup {
        let text = FigureText.place(latitude: latitude, longitude: longitude)
        return around("\(text)", latitude: latitude, longitude: longitude)
    }

    /// Text or shapes as a link to a place.
    static func around(_ content: Markup, latitude: Double, longitude: Double) -> Markup {
        "<a href=\"\(address(latitude: latitude, longitude: longitude))\" rel=\"noreferrer\">\(content)</a>"
    }
}
