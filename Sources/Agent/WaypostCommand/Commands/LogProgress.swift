import LinuxPlatform

/// How far a log has been read, drawn for a person while work goes on.
enum LogProgress {
    /// A line now and then, if somebody looks at it and the results go somewhere else.
    static func line() -> @Sendable (_ name: String, _ bytesRead: Int64, _ totalBytes: Int64?) -> Void {
        guard Terminal.isInteractive, !StandardOutput.isTerminal else { return { _, _, _ in } }
        return drawn()
    }

    /// A line now and then, wherever the results go.
    static func drawn() -> @Sendable (_ name: String, _ bytesRead: Int64, _ totalBytes: Int64?) -> Void {
        let told = Locked(Int64(0))
        return { name, bytesRead, totalBytes in
            let isDue = told.withLock { told in
                guard bytesRead < told || bytesRead >= told + 4 << 20 else { return false }
                told = bytesRead
                return true
            }
            guard isDue else { return }
            let share = totalBytes.map { $0 > 0 ? "\(bytesRead * 100 / $0) %" : "" } ?? "\(bytesRead >> 20) MiB"
            Terminal.draw("\(name)  \(share)")
        }
    }
}
