/// Hears what happens; called from many tasks, must return at once.
package protocol ReportingObserver: Sendable {
    func observe(_ event: ReportingEvent)
}
