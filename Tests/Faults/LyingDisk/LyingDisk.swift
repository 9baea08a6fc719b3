import LinuxPlatform
import SQLiteOutbox
import TimeAndChance

/// A disk that fails, fills up and loses power when it is told to, over real files in one folder.
///
/// What SQLite writes goes through a VFS of its own over SQLite's `unix` VFS, so that caches, write-ahead log and its
/// index behave as on any disk. What has not been synchronized is remembered with what was there before; `powerCut`
/// leaves the files as a real disk could show them then. Everything follows from the seed.
///
/// `@unchecked Sendable`: used by one thread at a time, like the outbox above it.
package final class LyingDisk: StoreDisk, @unchecked Sendable {
    /// The folder whose files are on this disk, links resolved.
    package let folder: String
    package var databaseFileSystem: String? { fileSystem?.name }

    /// What goes wrong later.
    package private(set) var faults: [DiskFault] = []
    /// Bytes of all files above which nothing more is taken; `nil`: no limit.
    package var capacity: Int64?
    package var isReadOnly = false
    /// Whether another program holds SQLite's write lock.
    package var isLocked = false
    /// Says of every sync that it is done, and does nothing: a disk to be found out.
    package var ignoresSync = false
    /// Whether the power is off.
    package private(set) var isOff = false
    /// How often each call was made.
    package private(set) var counts: [DiskCall: Int] = [:]
    /// Hears of each call with the name of its file.
    package var observer: ((DiskCall, String) -> Void)?
    /// The `errno` of the last failure, which SQLite asks for.
    var lastError: CInt = 0

    private var fileSystem: LyingFileSystem?
    private var histories: [String: FileHistory] = [:]
    private var folderChanges: [FolderChange] = []
    private var chance: SplitMix64

    package init(folder: String, seed: UInt64) {
        self.folder = folder
        chance = SplitMix64(seed: seed)
        fileSystem = LyingFileSystem(self)
    }

    // MARK: What can be ordered

    package func order(_ fault: DiskFault) { faults.append(fault) }

    /// Nothing goes wrong any more; there is room again, and it may be written.
    package func heal() {
        faults = []
        capacity = nil
        isReadOnly = false
        ignoresSync = false
        isLocked = false
    }

    /// Every call fails until `powerOn`; of what is not synchronized about `share` is kept, by chance when `nil`.
    package func powerCut(keeping share: Double? = nil) {
        guard !isOff else { return }
        isOff = true
        faults = []
        let shares = [0, 0.1, 0.5, 0.9, 1]
        let share = share ?? shares.randomElement(using: &chance) ?? 0
        // Journals put changes of names on the disk in their order.
        let kept = (0..<folderChanges.count).filter { _ in Double.random(in: 0..<1, using: &chance) < share }.count
        for change in folderChanges[kept...].reversed() { undo(change.deed) }
        for (path, history) in histories.sorted(by: { $0.key < $1.key }) where !history.isDurable {
            let bytes = Self.contents(of: path)
            Self.replace(path, with: history.afterPowerCut(bytes, keeping: share, using: &chance))
        }
        histories = [:]
        folderChanges = []
    }

    /// Every call fails until `powerOn`, and the files stay as programs saw them: not the machine has ended, but the
    /// process that wrote.
    package func cutOff() {
        isOff = true
        faults = []
    }

    package func powerOn() { isOff = false }

    private func undo(_ deed: FolderChange.Deed) {
        switch deed {
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

    // MARK: What every call goes through

    /// Makes a call of the kind `call` on `path`, unless something is to go wrong with it.
    ///
    /// `mayWrite` is whether a read-only disk refuses it. `body` gets `true` where only half is to be written.
    func perform<Result>(
        _ call: DiskCall, _ path: String, mayWrite: Bool = true,
        _ body: (_ isShort: Bool) throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        if isOff { throw failure(call, path, DiskErrno.inputOutput) }
        counts[call, default: 0] += 1
        observer?(call, FileSystem.name(of: path))
        var struck: DiskFault.Failure?
        for index in faults.indices where faults[index].strikes(call) { struck = faults[index].failure }
        if struck != nil { faults.removeAll(where: \.isOver) }
        // As everybody does who makes such a call: it is made again.
        if case .error(DiskErrno.interrupted) = struck, call != .sync { struck = nil }
        if case .error(let number) = struck {
            if call == .sync { histories[path]?.abandon() }
            throw failure(call, path, number)
        }
        if mayWrite, isReadOnly { throw failure(call, path, DiskErrno.readOnly) }
        let result = try body(struck == .shortWrite)
        if struck == .powerCut {
            powerCut()
            throw failure(call, path, DiskErrno.inputOutput)
        }
        return result
    }

    func failure(_ call: DiskCall, _ path: String, _ number: CInt) -> SystemError {
        lastError = number
        return SystemError(call: "\(call.rawValue) \(path)", number: number)
    }

    /// How many more bytes fit.
    func room() throws(SystemError) -> Int {
        guard let capacity else { return .max }
        var used: Int64 = 0
        for name in try FileSystem.names(inFolder: folder) { used += try FileSystem.fileSize(at: "\(folder)/\(name)") }
        return Int(max(0, capacity - used))
    }

    // MARK: What is remembered

    func history(of path: String) -> FileHistory {
        histories[path] ?? FileHistory(size: Int((try? FileSystem.fileSize(at: path)) ?? 0))
    }

    func noteWrite(_ new: [UInt8], to path: String, at offset: Int, over old: [UInt8]) {
        if histories[path] == nil { histories[path] = history(of: path) }
        histories[path]?.write(new, at: offset, over: old)
    }

    func noteTruncation(of path: String, to count: Int, tail: [UInt8]) {
        if histories[path] == nil { histories[path] = history(of: path) }
        histories[path]?.truncate(to: count, tail: tail)
    }

    func noteCreation(of path: String) {
        histories[path] = FileHistory(size: 0)
        note(.created(path), in: path)
    }

    /// Before the file is removed.
    func noteRemoval(of path: String) {
        note(.removed(path, kept(path)), in: path)
        histories[path] = nil
    }

    /// Before the file is renamed.
    func noteRename(_ source: String, to destination: String) {
        let isThere = (try? FileSystem.entry(at: destination)) != nil
        note(.renamed(source, to: destination, replaced: isThere ? kept(destination) : nil), in: destination)
        histories[destination] = history(of: source)
        histories[source] = nil
    }

    func noteSync(of path: String) {
        if !ignoresSync { histories[path]?.synchronize() }
    }

    func noteFolderSync(_ path: String) {
        if !ignoresSync { folderChanges.removeAll { $0.folder == path } }
    }

    private func note(_ deed: FolderChange.Deed, in path: String) {
        folderChanges.append(FolderChange(folder: FileSystem.parent(of: path), deed: deed))
    }

    private func kept(_ path: String) -> FolderChange.Kept {
        FolderChange.Kept(history: history(of: path), bytes: Self.contents(of: path))
    }
}
