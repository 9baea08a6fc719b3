import Glibc
import LinuxPlatform
import SQLiteOutbox

/// The disk of the vehicle, in a folder of its own that goes with it.
final class VehicleDisk {
    private let folder: String

    init(_ world: World) throws {
        let parent = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        folder = "\(parent)/waypost-simulation-\(getpid())-\(world.scenario.seed)"
        try FileSystem.createFolder(at: folder)
    }

    /// Nothing of it is needed any more.
    func remove() {
        for name in (try? FileSystem.names(inFolder: folder)) ?? [] {
            try? FileSystem.removeFile(at: "\(folder)/\(name)")
        }
        unsafe rmdir(folder)
    }

    func settings(_ world: World) -> OutboxSettings {
        OutboxSettings(
            path: folder + "/outbox.sqlite", maximumBytes: world.has(.smallStore) ? 0 : 64 << 20,
            now: { world.utc },
            reportRecovery: { recovery in world.breach(.acceptedSurvives, "the store was damaged: \(recovery)") })
    }
}
