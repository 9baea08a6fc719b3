import BackendAuthorization
import VehicleAuthorization

extension TokenAnswerFormat {
    /// The answers of Google's samples by the names that `waypost simulator --token-shape` has for them.
    private enum Shape: String, CaseIterable {
        case guide, onDemandSample, scheduledSample

        var format: TokenAnswerFormat {
            switch self {
            case .guide: TokenAnswerFormat()
            case .onDemandSample: .onDemandSample
            case .scheduledSample: .scheduledSample
            }
        }
    }

    /// A ready-made shape, and single keys that differ from it.
    init(_ section: inout ConfigurationSection) {
        let shape = (section.choice("tokenShape", default: Shape.guide) ?? .guide).format
        self.init(
            tokenKey: section.string("tokenKey", default: shape.tokenKey),
            expirationKey: section.string("expirationKey", default: shape.expirationKey),
            expirationFormat: section.choice("expirationFormat", default: shape.expirationFormat)
                ?? shape.expirationFormat)
    }
}
