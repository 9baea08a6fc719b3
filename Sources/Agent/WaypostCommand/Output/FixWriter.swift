import GNSS
import LinuxPlatform

/// Writes fixes to standard output from a thread of its own, for a pipe may make it wait.
actor FixWriter {
    private let executor = ThreadExecutor(named: "output")
    private let format: FixesFormat
    private let flushesEachFix: Bool
    private var bytes: [UInt8] = []
    private var failure: SystemError?
    /// How many have been taken.
    private(set) var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// - Parameter flushesEachFix: whether every fix is shown at once, as somebody watches.
    init(_ format: FixesFormat, flushesEachFix: Bool) {
        (self.format, self.flushesEachFix) = (format, flushesEachFix)
        bytes.reserveCapacity(1 << 17)
        format.appendHeader(to: &bytes)
    }

    /// Whether the reader has gone, so that there is no point in going on.
    var isBroken: Bool { failure != nil }

    func write(_ fix: Fix) {
        count += 1
        format.append(fix, to: &bytes)
        if flushesEachFix || bytes.count >= 1 << 16 { flush() }
    }

    /// Writes what is left.
    ///
    /// - Throws: the first failure of any write.
    func finish() throws(SystemError) {
        flush()
        if let failure { throw failure }
    }

    private func flush() {
        guard failure == nil else { return }
        do { try StandardOutput.write(bytes) } catch { failure = error }
        bytes.removeAll(keepingCapacity: true)
    }
}
