package import LocationReporting

/// Several observers as one.
package struct ReportingObservers: ReportingObserver {
    private let observers: [any ReportingObserver]

    package init(_ observers: [any ReportingObserver]) { self.observers = observers }

    package func observe(_ event: ReportingEvent) {
        for observer in observers { observer.observe(event) }
    }
}
