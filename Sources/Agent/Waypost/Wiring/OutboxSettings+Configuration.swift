package import SQLiteOutbox

extension OutboxSettings {
    /// The store that a configuration names.
    package init(
        _ configuration: OutboxConfiguration, reportRecovery: @escaping @Sendable (StoreRecovery) -> Void = { _ in }
    ) {
        self.init(
            path: configuration.path, maximumBytes: Int64(configuration.maximumMegabytes) << 20,
            now: { .system }, reportRecovery: reportRecovery)
        maximumAge = configuration.maximumAgeDays.map { .seconds($0 * 86_400) }
        durability = configuration.durability
    }
}
