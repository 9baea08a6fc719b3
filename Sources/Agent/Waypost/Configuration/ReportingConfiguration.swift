/// When updates are made.
package struct ReportingConfiguration: Sendable, Hashable {
    package var interval: Duration
    package var heartbeat: Duration
}

extension ReportingConfiguration {
    init(_ root: inout ConfigurationSection) {
        var section = root.section("reporting")
        interval = section.seconds("intervalSeconds", in: 5...60, default: 10)
        heartbeat = section.seconds("heartbeatSeconds", in: 5...60, default: 60)
        if heartbeat < interval {
            section.report("heartbeatSeconds", "is shorter than \"intervalSeconds\"; make it at least as long")
        }
        section.finish()
    }
}
