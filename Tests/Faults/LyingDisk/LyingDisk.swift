import LinuxPlatform
import SQLiteOutbox
import TimeAndRandomness

/// A disk, backed by real files in one directory, that fails, fills up and loses power on demand.
///
/// SQLite writes through a dedicated VFS over its `unix` VFS, so that caches, write-ahead log and its index behave as
/// on any disk. Unsynchronised data is remembered together with the previous content; `powerCut` leaves the files in a
/// state that a real disk could show. The seed determines all random choices.
///
/// `@unchecked Sendable` is safe because only one thread at a time uses the disk, as with the outbox that is stored on
/// it.
package final class LyingDisk: StoreDisk, @unchecked Sendable {
    /// The directory of the files on this disk, with symbolic links resolved.
    package let directory: String
    package var databaseFileSystem: String? { fileSystem?.name }

    /// The faults of future calls.
    package private(set) var faults: [DiskFault] = []
    /// The maximum total size of all files; `nil` for no limit.
    package var capacity: Int64?
    package var isReadOnly = false
    /// Whether another program holds SQLite's write lock.
    package var isLocked = false
    /// Whether every sync succeeds without doing anything. Tests must detect such a disk.
    package var ignoresSync = false
    /// Whether the power is off.
    package private(set) var isOff = false
    /// The number of calls of each kind.
    package private(set) var counts: [DiskCall: Int] = [:]
    /// A closure that receives each call with the name of its file; `nil` for none.
    package var observer: ((DiskCall, String) -> Void)?
    /// The `errno` of the last failure, which SQLite asks for.
    var lastError: CInt = 0

    private var fileSystem: LyingFileSystem?
    private var histories: [String: FileHistory] = [:]
    private var directoryChanges: [DirectoryChange] = []
    private var chance: SplitMix64

    package init(directory: String, seed: UInt64) {
        self.directory = directory
        chance = SplitMix64(seed: seed)
        fileSystem = LyingFileSystem(self)
    }

    // MARK: Faults

    package func schedule(_ fault: DiskFault) { faults.append(fault) }

    /// Ends all faults, the size limit and read-only mode.
    package func heal() {
        faults = []
        capacity = nil
        isReadOnly = false
        ignoresSync = false
        isLocked = false
    }

    /// Fails every call until `powerOn`. Keeps unsynchronised data with the probability `share`, or with a random
    /// probability if `share` is `nil`.
    package func powerCut(keeping share: Double? = nil) {
        guard !isOff else { return }
        isOff = true
        faults = []
        let shares = [0, 0.1, 0.5, 0.9, 1]
        let share = share ?? shares.randomElement(using: &chance) ?? 0
        // Journals make changes to names durable in order.
        let kept = (0..<directoryChanges.count).filter { _ in Double.random(in: 0..<1, using: &chance) < share }.count
        for change in directoryChanges[kept...].reversed() { undo(change.operation) }
        for (path, history) in histories.sorted(by: { $0.key < $1.key }) where !history.isDurable {
            let bytes = Self.contents(of: path)
            Self.replace(path, with: history.contentsAfterPowerCut(from: bytes, keeping: share, using: &chance))
        }
        histories = [:]
        directoryChanges = []
    }

    /// Fails every call until `powerOn`, and leaves the files as programs saw them: the writing process has ended, not
    /// the machine.
    package func cutOff() {
        isOff = true
        faults = []
    }

    package func powerOn() { isOff = false }

    private func undo(_ operation: DirectoryChange.Operation) {
        switch operation {
        case .created(let path):
            histories[path] = nil
            Self.remove(path)
        case .removed(let path, let kept):
            histories[path] = kept.history
            Self.replace(path, with: kept.bytes)
        case .renamed(let source, let destination, let replaced):
            histories[source] = histories.removeValue(forKey: destination)
            Self.rename(destination, to: source)
            guard let replaced else { return }
            histories[destination] = replaced.history
            Self.replace(destination, with: replaced.bytes)
        }
    }

    // MARK: Calls

    /// Runs `body`, a disk call of kind `call` on `path`, with the fault that is due, if any. Returns the result of
    /// `body`.
    ///
    /// `mayWrite` says whether a read-only disk rejects the call. `body` gets `true` if it must write only half.
    func perform<Result>(
        _ call: DiskCall, on path: String, mayWrite: Bool = true,
        _ body: (_ isShort: Bool) throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        if isOff { throw failure(of: call, on: path, number: DiskErrno.inputOutput) }
        counts[call, default: 0] += 1
        observer?(call, FileSystem.lastComponent(of: path))
        var failureToInject: DiskFault.Failure?
        for index in faults.indices where faults[index].countCall(call) { failureToInject = faults[index].failure }
        if failureToInject != nil { faults.removeAll(where: \.isOver) }
        // Real programs repeat an interrupted call.
        if case .error(DiskErrno.interrupted) = failureToInject, call != .sync { failureToInject = nil }
        if case .error(let number) = failureToInject {
            if call == .sync { histories[path]?.abandon() }
            throw failure(of: call, on: path, number: number)
        }
        if mayWrite, isReadOnly { throw failure(of: call, on: path, number: DiskErrno.readOnly) }
        let result = try body(failureToInject == .shortWrite)
        if failureToInject == .powerCut {
            powerCut()
            throw failure(of: call, on: path, number: DiskErrno.inputOutput)
        }
        return result
    }

    func failure(of call: DiskCall, on path: String, number: CInt) -> SystemError {
        lastError = number
        return SystemError(call: "\(call.rawValue) \(path)", number: number)
    }

    /// Returns the number of bytes that still fit.
    func freeBytes() throws(SystemError) -> Int {
        guard let capacity else { return .max }
        var used: Int64 = 0
        for name in try FileSystem.names(inDirectory: directory) {
            used += try FileSystem.fileSize(at: "\(directory)/\(name)")
        }
        return Int(max(0, capacity - used))
    }

    // MARK: Records

    func history(of path: String) -> FileHistory {
        histories[path] ?? FileHistory(size: Int((try? FileSystem.fileSize(at: path)) ?? 0))
    }

    func recordWrite(_ new: [UInt8], to path: String, at offset: Int, over old: [UInt8]) {
        if histories[path] == nil { histories[path] = history(of: path) }
        histories[path]?.write(new, at: offset, over: old)
    }

    func recordTruncation(of path: String, to count: Int, tail: [UInt8]) {
        if histories[path] == nil { histories[path] = history(of: path) }
        histories[path]?.truncate(to: count, tail: tail)
    }

    func recordCreation(of path: String) {
        histories[path] = FileHistory(size: 0)
        recordDirectoryChange(.created(path), at: path)
    }

    /// Records the removal of a file. Call before the file is removed.
    func recordRemoval(of path: String) {
        recordDirectoryChange(.removed(path, removedFile(at: path)), at: path)
        histories[path] = nil
    }

    /// Records a new name. Call before the file is renamed.
    func recordRename(_ source: String, to destination: String) {
        let isThere = (try? FileSystem.entry(at: destination)) != nil
        let replaced = isThere ? removedFile(at: destination) : nil
        recordDirectoryChange(.renamed(source, to: destination, replaced: replaced), at: destination)
        histories[destination] = history(of: source)
        histories[source] = nil
    }

    func recordSync(of path: String) {
        if !ignoresSync { histories[path]?.synchronize() }
    }

    func recordDirectorySync(_ path: String) {
        if !ignoresSync { directoryChanges.removeAll { $0.directory == path } }
    }

    private func recordDirectoryChange(_ operation: DirectoryChange.Operation, at path: String) {
        directoryChanges.append(DirectoryChange(directory: FileSystem.parent(of: path), operation: operation))
    }

    private func removedFile(at path: String) -> DirectoryChange.RemovedFile {
        DirectoryChange.RemovedFile(history: history(of: path), bytes: Self.contents(of: path))
    }
}
