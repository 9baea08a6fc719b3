import BackendAuthorization
import VehicleAuthorization

extension TokenAnswerFormat {
    init(_ section: inout ConfigurationSection) {
        self.init(
            tokenKey: section.string("tokenKey", default: "VEHICLE_TOKEN_KEY"),
            expirationKey: section.string("expirationKey", default: "TOKEN_EXPIRATION"),
            expirationFormat: section.choice("expirationFormat", default: ExpirationFormat.automatic) ?? .automatic)
    }
}
