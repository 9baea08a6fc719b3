package import ReportedText

/// A finding of `waypost check` about a configuration that could be loaded.
package enum CheckFinding: Sendable, Hashable {
    /// The configuration file contains a secret, and every user can read the file.
    case exposedSecret(key: String, file: String)
    case deviceMissing(String)
    /// `receiver.device` isn't a serial port. `kind` says what it is instead, such as `a file`.
    case notASerialPort(String, kind: String)
    /// The service's systemd unit denies access to the device.
    case deviceDeniedByUnit(String, unit: String)
    case deviceDeniedToUser(String, user: String)
    /// The receiver's file doesn't exist.
    case logMissing(String)
    case logIsDirectory(String)
    case logIsDevice(String)
    /// `user` can't see whether the path exists, because a directory is closed to that user.
    case hiddenFromUser(key: String, path: String, user: String)
    /// The user who runs the check can't see whether the path exists, but `user` can.
    case hiddenFromCaller(key: String, path: String, user: String)
    /// The service's systemd unit hides a directory in the path.
    case hiddenByUnit(key: String, path: String, directory: String, unit: String)

    case privateSwitch(PrivateSwitch, path: String)
    case outbox(OutboxFinding)
    /// A crash may lose updates, because `outbox.durability` is `economy`.
    case economyDurability(updates: Int, span: Duration)
    /// A key sets a state that Fleet Engine doesn't keep for delivery vehicles.
    case stateWithoutEffect(key: String)
    /// The status address has port 0, so the system chooses a different port at each start.
    case statusPortUnknown

    /// A finding about `vehicle.privateModeFile`.
    package enum PrivateSwitch: Sendable, Hashable {
        /// A file that `user` can't see.
        case hiddenFromUser(String)
        case isDirectory
        /// A file that exists now, so private mode is on.
        case isOn
        /// A file in a directory that doesn't exist.
        case directoryMissing
        /// A file in `/run/waypost`, which systemd removes whenever the service stops.
        case inRuntimeDirectory
        case inMemory
        /// A file in a temporary directory, of which the service's systemd unit has its own.
        case inTemporaryDirectory

        /// Whether private mode can't be turned on or off with this file.
        package var preventsSwitching: Bool {
            switch self {
            case .hiddenFromUser, .isDirectory, .directoryMissing: true
            case .isOn, .inRuntimeDirectory, .inMemory, .inTemporaryDirectory: false
            }
        }
    }

    /// A finding about `outbox.path`.
    package enum OutboxFinding: Sendable, Hashable {
        /// A path below `ancestor`, which isn't a directory on a disk.
        case invalidAncestor(path: String, ancestor: String)
        case readOnly(path: String, directory: String)
        /// The service's systemd unit doesn't let the service write in the directory.
        case deniedByUnit(path: String, directory: String, unit: String)
        /// `user` can't write in the directory. `reason` is the system's message.
        case notWritable(directory: String, user: String, reason: String)
        case tooFewInodes(directory: String, available: Int64, needed: Int64)
        case tooLittleSpace(directory: String, freeBytes: Int64, neededBytes: Int64)
        /// Another user must run the service, because the directory belongs to that user.
        case ownedByAnotherUser(path: String, user: String)
        /// A path below `mountPoint`, whose file system is listed in `/etc/fstab` but isn't mounted.
        case notMounted(path: String, mountPoint: String)
        case inMemory(path: String)
        case inTemporaryDirectory(path: String)
        /// The outbox's directory doesn't exist yet. The service will create it.
        case directoryMissing(String)
    }
}

extension CheckFinding {
    /// The finding and the remedy, in one line.
    package var sentence: ReportedText { wording.sentence }

    var wording: Wording {
        switch self {
        case .exposedSecret(let key, let file):
            Wording("\(key) is in \(file), which every user can read", "if it is a secret, run chmod o= \(file)")
        case .deviceMissing(let device):
            Wording(
                "\(device) does not exist now",
                "plug the receiver in, or correct receiver.device (ls -l /dev/serial/by-id)")
        case .notASerialPort(let device, let kind):
            Wording(
                "receiver.device: \(device) is \(kind), not a serial port",
                "use a device such as /dev/ttyUSB0 (ls -l /dev/serial/by-id), or set receiver.type to file")
        case .deviceDeniedByUnit(let device, let unit):
            Wording(
                "receiver.device: \(unit) does not allow \(device)",
                "run systemctl edit waypost, and add DeviceAllow=\(device) rw under [Service]")
        case .deviceDeniedToUser(let device, let user):
            Wording(
                "receiver.device: \(user) can't open \(device)",
                """
                run chgrp dialout \(device) and chmod g+rw \(device); to make this permanent, add a udev rule \
                (99-waypost-gnss.rules among the examples)
                """)
        case .logMissing(let path):
            Wording("receiver.path: \(path) does not exist", "check the path, and the program that writes the file")
        case .logIsDirectory(let path): Wording("receiver.path: \(path) is a directory", "specify a file in it")
        case .logIsDevice(let path):
            Wording("receiver.path: \(path) is a device", "set receiver.type to serial, and receiver.device to it")
        case .hiddenFromUser(let key, let path, let user):
            Wording("\(key): \(user) can't see \(path)", "give that user access to its directory")
        case .hiddenFromCaller(let key, let path, let user):
            Wording("\(key): this user can't see \(path)", "run this command as \(user)")
        case .hiddenByUnit(let key, let path, let directory, let unit):
            Wording(
                "\(key): the service can't see \(path), because \(unit) hides \(directory) from it",
                "use a path outside that directory")
        case .privateSwitch(let finding, let path):
            Wording("vehicle.privateModeFile: \(path) \(finding.wording.cause)", finding.wording.remedy)
        case .outbox(let finding): Wording("outbox.path: \(finding.wording.cause)", finding.wording.remedy)
        case .economyDurability(let updates, let span):
            Wording(
                "economy: a crash may lose up to \(updates) updates from the last \(span.humanReadable)",
                "set outbox.durability to full if no update may be lost")
        case .stateWithoutEffect(let key):
            Wording(
                "\(key) has no effect with scheduledTasks: Fleet Engine keeps no such state for delivery vehicles",
                "remove the key")
        case .statusPortUnknown:
            Wording(
                """
                status.listen: port 0 means a different port at each start, so waypost status, waypost why and the \
                program that collects metrics can't find the service
                """, "set it to 127.0.0.1:9464")
        }
    }
}

extension CheckFinding.PrivateSwitch {
    fileprivate var wording: Wording {
        switch self {
        case .hiddenFromUser(let user):
            Wording(
                "can't be seen by \(user), so the vehicle is always private",
                "give that user access to its directory (chmod o+x)")
        case .isDirectory:
            Wording(
                "is a directory, so the vehicle is always private",
                "use the path of a file that the switch creates and removes")
        case .isOn: Wording("exists now, so the vehicle is private", "remove the file to end private mode")
        case .directoryMissing:
            Wording(
                "is in a directory that does not exist, so the vehicle is never private",
                "create the directory, or correct the path")
        case .inRuntimeDirectory:
            Wording(
                "is in /run/waypost, which systemd removes whenever the service stops",
                "use a file in another directory, such as /var/lib/vehicle/private")
        case .inMemory:
            Wording(
                "is in memory, so private mode ends when the machine restarts",
                "use a file on disk, such as /var/lib/vehicle/private, or create the file before Waypost starts")
        case .inTemporaryDirectory:
            Wording(
                "is in a temporary directory; under systemd, the service has its own one and never sees this file",
                "use a file in another directory, such as /var/lib/vehicle/private")
        }
    }
}

extension CheckFinding.OutboxFinding {
    private static let disk: ReportedText = "choose a path on a disk, such as /var/lib/waypost/outbox.sqlite"

    fileprivate var wording: Wording {
        switch self {
        case .invalidAncestor(let path, let ancestor):
            Wording(
                "\(path) can't be created, because \(ancestor) is not a directory on a disk", "choose another path")
        case .readOnly(let path, let directory):
            Wording(
                "\(path) can't be created, because \(directory) is mounted read-only",
                "choose a writable path")
        case .deniedByUnit(let path, let directory, let unit):
            Wording(
                "\(path) can't be created, because \(unit) does not allow the service to write to \(directory)",
                """
                choose a path in /var/lib/waypost, or run systemctl edit waypost and add ReadWritePaths=\(directory) \
                under [Service]
                """)
        case .notWritable(let directory, let user, let reason):
            Wording(
                "\(user) can't write to \(directory): \(reason)",
                "change its owner to that user (chown), or choose another path")
        case .tooFewInodes(let directory, let available, let needed):
            Wording(
                "the file system of \(directory) has \(available) inodes left, but an outbox needs \(needed)",
                "remove some files (df -i), or choose another path")
        case .tooLittleSpace(let directory, let free, let needed):
            Wording(
                "only \(free / 1000) kB are free at \(directory), but an outbox needs \(needed / 1000) kB",
                "free space there, or choose another path")
        case .ownedByAnotherUser(let path, let user):
            Wording("\(path) is in a directory that belongs to \(user)", "run the service as that user")
        case .notMounted(let path, let mountPoint):
            Wording(
                "\(path) is below \(mountPoint), which is in /etc/fstab but not mounted", "run mount \(mountPoint)")
        case .inMemory(let path):
            Wording(
                "\(path) is in memory (tmpfs), so a restart of the machine loses pending updates", Self.disk)
        case .inTemporaryDirectory(let path):
            Wording("\(path) is in /tmp, which many systems empty when they start", Self.disk)
        case .directoryMissing(let directory):
            Wording(
                "\(directory) does not exist yet, and is created when the service starts",
                "if there should already be an outbox, correct the path")
        }
    }
}

extension CheckFinding {
    /// The code of the condition that the finding foretells; `nil` if it foretells none.
    package var code: ConditionCode? {
        switch self {
        case .deviceMissing, .notASerialPort, .deviceDeniedByUnit, .deviceDeniedToUser, .logMissing, .logIsDirectory,
            .logIsDevice:
            .receiverUnavailable
        case .hiddenFromUser(let key, _, _), .hiddenByUnit(let key, _, _, _): ConditionCode(unusableFile: key)
        case .outbox(let finding): finding.code
        case .privateSwitch(.isOn, _): .privateMode
        case .privateSwitch(let finding, _): finding.preventsSwitching ? .privateModeMisconfigured : nil
        case .exposedSecret, .hiddenFromCaller, .economyDurability, .stateWithoutEffect, .statusPortUnknown: nil
        }
    }
}

extension CheckFinding.OutboxFinding {
    fileprivate var code: ConditionCode? {
        switch self {
        case .invalidAncestor, .readOnly, .deniedByUnit, .notWritable: .outboxUnusable
        case .tooFewInodes, .tooLittleSpace: .diskFull
        case .ownedByAnotherUser, .notMounted, .inMemory, .inTemporaryDirectory, .directoryMissing: nil
        }
    }
}

extension ConditionCode {
    /// Creates the code that the service raises if it can't use the file named by the configuration key `key`. Returns
    /// `nil` if the service raises no condition.
    package init?(unusableFile key: String) {
        switch key {
        case "receiver.device", "receiver.path": self = .receiverUnavailable
        case "outbox.path": self = .outboxUnusable
        case "status.listen": self = .statusAddressUnavailable
        case "upload.caFile": self = .certificateUntrusted
        case "authorization.caFile", "authorization.clientCertificateFile", "authorization.clientKeyFile":
            self = .tokenEndpointTLS
        case _ where key.hasPrefix("authorization."): self = .tokenSourceFailed
        default: return nil
        }
    }
}
