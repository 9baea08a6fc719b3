/// Which vehicles Fleet Engine knows without anyone creating them.
package enum VehicleExistence: Sendable, Hashable {
    /// A vehicle comes into being with its first token or update.
    case onFirstUse
    /// These ids from the start; all others answer 404 until they are created.
    case listed(Set<String>)

    func covers(_ id: String) -> Bool {
        switch self {
        case .onFirstUse: true
        case .listed(let ids): ids.contains(id)
        }
    }
}
