import LinuxPlatform
package import VehicleAuthorization

/// Tells of a doubtful expiry once; every further token would say the same.
package final class DoubtReporter: Sendable {
    private let report: @Sendable (AuthorizationWarning) -> Void
    private let isTold = Locked(false)

    package init(_ report: @escaping @Sendable (AuthorizationWarning) -> Void) { self.report = report }

    package func tell(_ doubt: String?) {
        guard let doubt else { return }
        let isFirst = isTold.withLock { isTold in
            defer { isTold = true }
            return !isTold
        }
        if isFirst { report(.doubtfulExpiry(doubt)) }
    }
}
