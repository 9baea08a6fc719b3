/// HTML or SVG markup. Interpolated text is escaped, and an interpolated number has at most two decimals.
package struct Markup: Sendable, Hashable, ExpressibleByStringInterpolation {
    package private(set) var text: String

    package init(stringLiteral text: String) { self.text = text }
    package init(stringInterpolation parts: StringInterpolation) { text = parts.text }

    package static func += (markup: inout Self, more: Self) { markup.text += more.text }

    /// Appends markup and a line break.
    package mutating func add(_ markup: Self) {
        text += markup.text
        text += "\n"
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: String) { text += literal }
        package mutating func appendInterpolation(_ markup: Markup) { text += markup.text }
        package mutating func appendInterpolation(_ text: String) { self.text += Markup.escaped(text) }
        package mutating func appendInterpolation(_ number: Int) { text += String(number) }
        package mutating func appendInterpolation(_ number: Double) { text += Markup.number(number) }
    }

    /// Returns `text` with escapes, so that it is safe between tags and in quoted attributes. Control characters become
    /// replacement characters, because a file name may contain them but a page must not.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Returns a number with at most two decimals, without trailing zeros.
    static func number(_ value: Double) -> String {
        var text = FigureText.decimal(value, places: 2)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text == "-0" ? "0" : text
    }
}

/// Links to positions on a world map. The page itself loads nothing from the map's server.
package enum WorldMapLink {
    /// Returns the URL of a position on OpenStreetMap.
    package static func address(latitude: Double, longitude: Double) -> String {
        let latitude = FigureText.decimal(latitude, places: 5)
        let longitude = FigureText.decimal(longitude, places: 5)
        return
            "https://www.openstreetmap.org/?mlat=\(latitude)&mlon=\(longitude)#map=17/\(latitude)/\(longitude)"
    }

    /// Returns a link to a position. The text of the link is the position in degrees.
    package static func place(latitude: Double, longitude: Double) -> Markup {
        let text = FigureText.coordinates(latitude: latitude, longitude: longitude)
        return "<a href=\"\(address(latitude: latitude, longitude: longitude))\" rel=\"noreferrer\">\(text)</a>"
    }
}
