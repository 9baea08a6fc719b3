package import FleetEngine

/// The name of a vehicle: `providers/{provider}/vehicles/{id}`.
package struct ResourceName: Sendable, Hashable, CustomStringConvertible {
    package let provider: String
    package let service: FleetService
    package let id: String

    package init(provider: String, service: FleetService, id: String) {
        (self.provider, self.service, self.id) = (provider, service, id)
    }

    package var description: String { "providers/\(provider)/\(service.collection)/\(id)" }

    /// The rules for vehicle, trip and task ids; `nil` when `id` keeps them.
    static func problem(withID id: String) -> String? {
        if id.isEmpty { return "the id is empty" }
        if id.count > 64 { return "the id is longer than 64 characters" }
        if let scalar = id.unicodeScalars.first(where: { "/:?,#".unicodeScalars.contains($0) || $0.value < 0x20 }) {
            return "the id contains \"\(scalar)\""
        }
        // The standard library's own normalization; its name begins with an underscore for want of a public one.
        if !id.utf8.elementsEqual(id._nfcCodeUnits) { return "the id is not in Unicode Normalization Form C" }
        return nil
    }
}
