import Glibc

/// Processes that have a device open.
extension HoldingProcess {
    /// Returns the processes that have the device at `path` open. Symbolic links in `path` are resolved.
    package static func all(withDevice path: String) -> [HoldingProcess] {
        FileSystem.resolved(path).map { all(withOpenFile: $0) } ?? []
    }

    /// Returns the processes, other than this one, that have the device at `path` open.
    package static func others(withDevice path: String) -> [HoldingProcess] {
        all(withDevice: path).filter { $0.processID != getpid() }
    }

    /// Returns the processes that prevent a device from being opened: other processes, or else this one, if it has the
    /// device open already.
    static func blockers(ofDevice path: String) -> [HoldingProcess] {
        let others = others(withDevice: path)
        return others.isEmpty ? all(withDevice: path) : others
    }
}
