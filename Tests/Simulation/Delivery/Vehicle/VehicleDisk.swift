import Glibc
import LinuxPlatform
import LyingDisk
import Reporting
import SQLiteOutbox

/// The vehicle's disk: real files in a directory, on a `LyingDisk` that fills up, fails and loses power.
///
/// `@unchecked Sendable` is safe because only the simulation's thread uses the object.
final class VehicleDisk: @unchecked Sendable {
    private let world: World
    private let disk: LyingDisk
    private var dice: Dice

    init(_ world: World) throws {
        self.world = world
        let parent = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        let directory = "\(parent)/waypost-simulation-\(getpid())-\(world.scenario.seed)"
        try FileSystem.createDirectory(at: directory)
        disk = LyingDisk(directory: directory, seed: world.scenario.seed)
        disk.ignoresSync = world.scenario.bug == .doesNotSync
        dice = Dice(seed: world.scenario.seed, stream: .disk)
    }

    func remove() {
        for name in (try? FileSystem.names(inDirectory: disk.directory)) ?? [] {
            try? FileSystem.removeFile(at: "\(disk.directory)/\(name)")
        }
        unsafe rmdir(disk.directory)
    }

    var configuration: OutboxConfiguration {
        var configuration = OutboxConfiguration(
            path: disk.directory + "/outbox.sqlite", maximumBytes: world.has(.smallStore) ? 0 : 64 << 20)
        configuration.now = { [world] in world.utc }
        configuration.uptime = { [world] in world.now }
        configuration.disk = disk
        configuration.reportRecovery = { [world] recovery in
            world.note(.disk, 1, recovery.lost.upperBound, "the store was replaced: \(recovery)")
            world.require(.acceptedSurvives, recovery.lost.upperBound == 0, "the store was damaged: \(recovery)")
        }
        return configuration
    }

    /// Prepares the disk for a call of the process: the disk may be full or locked, or fail once.
    func prepare() {
        let isLocked = world.isActive(.lockedOutbox)
        if isLocked != disk.isLocked { world.note(.disk, 4, isLocked ? 1 : 0, "another program's lock: \(isLocked)") }
        disk.isLocked = isLocked
        let isFull = world.isActive(.fullDisk)
        if isFull, disk.capacity == nil {
            world.note(.disk, 2, 0, "the disk is full")
            disk.capacity = usedBytes + Int64(dice.below(3) * 3000)
        } else if !isFull {
            disk.capacity = nil
        }
        guard world.strikes(.diskError) else { return }
        let call = dice.element(of: [DiskCall.write, .sync, .read, .open, .truncate])
        let failure: DiskFault.Failure = dice.chance(0.3) ? .shortWrite : .error(DiskErrno.inputOutput)
        world.note(.disk, 3, 0, "a \(call) will fail: \(failure)")
        disk.schedule(DiskFault(failure, at: 1 + dice.below(6), of: call))
    }

    // MARK: Power

    var isOff: Bool { disk.isOff }

    /// Cuts the power at the given call to the disk, counted from now; 0 cuts it at once.
    func cutPower(atCall call: Int) {
        if call == 0 { disk.powerCut() } else { disk.schedule(DiskFault(.powerCut, at: call)) }
    }

    /// Cuts a killed process off from the disk. The bytes that it has written stay.
    func cutOff() { disk.cutOff() }

    func powerOn() { disk.powerOn() }

    private var usedBytes: Int64 {
        ((try? FileSystem.names(inDirectory: disk.directory)) ?? []).reduce(0) { sum, name in
            sum + ((try? FileSystem.fileSize(at: "\(disk.directory)/\(name)")) ?? 0)
        }
    }
}
