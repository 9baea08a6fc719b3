/// A place as people write it.
enum PagePlace {
    /// `53.54998° N, 10.00000° E`: five decimals are a metre.
    static func text(latitude: Double, longitude: Double) -> String {
        "\(FigureText.decimal(abs(latitude), 5))° \(latitude < 0 ? "S" : "N"), "
            + "\(FigureText.decimal(abs(longitude), 5))° \(longitude < 0 ? "W" : "E")"
    }
}
