package import HTTPMessages
package import LocationReporting

/// Where and how updates are sent.
package struct UploadConfiguration: Sendable, Hashable {
    package var endpoint: HTTPURL
    package var timeout: Duration
    package var maximumPastLocations: Int
    /// The pace of a backlog; `nil` sends it as fast as answers come.
    package var backlogUpdatesPerSecond: Double?
    package var retry: RetryPolicy
    package var caFile: String?
}

extension UploadConfiguration {
    init?(_ root: inout ConfigurationSection) {
        var section = root.section("upload")
        let endpoint = section.url("endpoint", default: "https://fleetengine.googleapis.com", HTTPURL.init)
        timeout = section.seconds("timeoutSeconds", in: 1...120, default: 15)
        maximumPastLocations = section.integer("maximumPastLocations", in: 1...500, default: 50)
        let pace = section.integer("backlogUpdatesPerSecond", in: 0...100_000, default: 100)
        backlogUpdatesPerSecond = pace == 0 ? nil : Double(pace)
        caFile = section.optionalString("caFile")
        var retry = section.section("retry")
        self.retry = RetryPolicy(
            initialDelay: retry.seconds("initialDelaySeconds", in: 0.05...60, default: 1),
            maximumDelay: retry.seconds("maximumDelaySeconds", in: 0.05...600, default: 60))
        if self.retry.maximumDelay < self.retry.initialDelay {
            retry.report("maximumDelaySeconds", "is shorter than \"initialDelaySeconds\"; make it at least as long")
        }
        retry.finish()
        section.finish()
        guard let endpoint else { return nil }
        self.endpoint = endpoint
    }
}
