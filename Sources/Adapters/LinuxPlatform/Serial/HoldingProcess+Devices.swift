import Glibc

/// Processes that have a device open.
extension HoldingProcess {
    /// Returns the processes that have the device at `path` open, with links resolved.
    package static func all(withDevice path: String) -> [HoldingProcess] {
        FileSystem.resolved(path).map { all(having: $0) } ?? []
    }

    /// Returns the other processes that have the device at `path` open.
    package static func others(withDevice path: String) -> [HoldingProcess] {
        all(withDevice: path).filter { $0.processID != getpid() }
    }

    /// Returns the processes that keep a device from being opened: other programs, or this one if it opened the device
    /// twice.
    static func blockers(ofDevice path: String) -> [HoldingProcess] {
        let others = others(withDevice: path)
        return others.isEmpty ? all(withDevice: path) : others
    }
}
