/// A number with its noun, as `1 fix` and `2 fixes`.
struct Counted: CustomStringConvertible {
    let description: String

    /// `plural` is needed where it is not the noun with an `s`.
    init(_ count: Int, _ singular: String, _ plural: String? = nil) {
        description = "\(count) \(count == 1 ? singular : plural ?? singular + "s")"
    }
}
