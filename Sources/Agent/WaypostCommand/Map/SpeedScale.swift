/// Speeds in classes with round bounds, a colour each.
struct SpeedScale: Sendable, Hashable {
    /// Width of a class in km/h.
    let step: Double
    /// How many there are; the last one has no upper bound.
    let count: Int

    /// As many colours as the page has.
    static let palette = 7
    private static let steps: [Double] = [1, 2, 3, 5, 10, 15, 20, 25, 30, 50, 75, 100, 150]

    /// A scale for speeds up to about `top`, in metres per second.
    init(top: Double) {
        let kilometers = max(1, top * 3.6)
        step = Self.steps.first { kilometers / $0 <= Double(Self.palette) } ?? 200
        count = min(Self.palette, max(1, Int((kilometers / step).rounded(.up))))
    }

    /// The class of a speed in metres per second, counted from the slowest.
    func index(of speed: Double) -> Int { min(count - 1, max(0, Int(min(1000, speed * 3.6 / step)))) }

    /// The place of a class's colour in the palette: few classes are far apart.
    func color(of index: Int) -> Int { count == 1 ? 2 : index * (Self.palette - 1) / (count - 1) }

    /// As `15–30` or `90 and more`, in km/h.
    func label(of index: Int) -> String {
        let low = Int(Double(index) * step)
        return index == count - 1 ? "≥ \(low)" : "\(low)–\(Int(Double(index + 1) * step))"
    }
}
