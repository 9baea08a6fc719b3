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

    /// Returns the remedy for this program, which has the device at `path` open.
    package func remedy(for path: String) -> String {
        switch command {
        case "gpsd":
            "read from gpsd instead (receiver.type gpsd), or stop gpsd (systemctl disable --now gpsd.socket gpsd)"
        case "ModemManager": "exclude the device with udev (ID_MM_DEVICE_IGNORE, see 99-waypost-gnss.rules)"
        case "getty", "agetty", "login":
            "end the login console (systemctl disable --now serial-getty@"
                + "\(FileSystem.name(of: FileSystem.linkTarget(at: path) ?? path)))"
        case "brltty": "disable brltty (systemctl mask --now brltty-udev), or uninstall it"
        case "waypost": "a receiver has one reader: stop the other Waypost (\(stopCommand))"
        default: "stop the program, or have it leave the device alone"
        }
    }

    /// Returns how to find an unknown holder of the device at `path`.
    package static func remedy(for path: String) -> String {
        "find the program as root (fuser -v \(path)) and stop it; ModemManager, gpsd and login consoles open such devices"
    }

    /// Returns the remedies for the holders, without repetition.
    package static func remedies(of holders: [HoldingProcess], for path: String) -> String {
        var remedies: [String] = []
        for holder in holders {
            let remedy = holder.remedy(for: path)
            if !remedies.contains(remedy) { remedies.append(remedy) }
        }
        return remedies.joined(separator: "; ")
    }
}
