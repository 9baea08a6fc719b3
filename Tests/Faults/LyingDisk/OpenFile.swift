import CSQLite
import LinuxPlatform

/// A file that SQLite has open on a lying disk.
///
/// The real VFS opens the file in SQLite's own memory and remains responsible for it. Only the table of methods is
/// replaced by a copy in which reading, writing, truncating and synchronising use the disk. A reference to this value
/// is in the same memory, after the real VFS's data. It keeps the disk alive while the file is open.
@safe final class OpenFile {
    let disk: LyingDisk
    let path: String
    /// Whether the journal's directory entry must still be synchronised. SQLite does that with its first sync.
    private var syncsDirectory: Bool
    private let realMethods: UnsafePointer<sqlite3_io_methods>
    private let methods: UnsafeMutablePointer<sqlite3_io_methods>

    /// The offset of the reference in a file's memory.
    static var referenceOffset: Int { (Int(unsafe realFileSystem.pointee.szOsFile) + 15) / 16 * 16 }

    private init(
        disk: LyingDisk, path: String, syncsDirectory: Bool, realMethods: UnsafePointer<sqlite3_io_methods>
    ) {
        self.disk = disk
        self.path = path
        self.syncsDirectory = syncsDirectory
        unsafe self.realMethods = realMethods
        unsafe methods = .allocate(capacity: 1)
        unsafe methods.initialize(to: realMethods.pointee)
        unsafe methods.pointee.iVersion = 2
        unsafe methods.pointee.xClose = { unsafe OpenFile.detach(from: $0) }
        unsafe methods.pointee.xRead = { unsafe OpenFile.instance(for: $0).read($0, $1, $2, $3) }
        unsafe methods.pointee.xWrite = { unsafe OpenFile.instance(for: $0).write($0, $1, $2, $3) }
        unsafe methods.pointee.xTruncate = { unsafe OpenFile.instance(for: $0).truncate($0, $1) }
        unsafe methods.pointee.xSync = { file, _ in unsafe OpenFile.instance(for: file).synchronize() }
        unsafe methods.pointee.xShmLock = { unsafe OpenFile.instance(for: $0).lockIndex($0, $1, $2, $3) }
    }

    deinit { unsafe methods.deallocate() }

    /// Inserts an `OpenFile` between SQLite and the open `file`.
    static func attach(
        to file: UnsafeMutablePointer<sqlite3_file>, disk: LyingDisk, path: String, syncsDirectory: Bool
    ) {
        let open = unsafe OpenFile(
            disk: disk, path: path, syncsDirectory: syncsDirectory, realMethods: file.pointee.pMethods)
        unsafe file.pointee.pMethods = UnsafePointer(open.methods)
        unsafe (UnsafeMutableRawPointer(file) + referenceOffset).storeBytes(
            of: Unmanaged.passRetained(open).toOpaque(), as: UnsafeMutableRawPointer.self)
    }

    private static func reference(in file: UnsafeMutablePointer<sqlite3_file>?) -> Unmanaged<OpenFile> {
        guard let file = unsafe file else { preconditionFailure("SQLite names no file") }
        let reference = unsafe (UnsafeMutableRawPointer(file) + referenceOffset).load(as: UnsafeMutableRawPointer.self)
        return unsafe Unmanaged.fromOpaque(reference)
    }

    private static func instance(for file: UnsafeMutablePointer<sqlite3_file>?) -> OpenFile {
        unsafe reference(in: file).takeUnretainedValue()
    }

    private static func detach(from file: UnsafeMutablePointer<sqlite3_file>?) -> CInt {
        let open = unsafe reference(in: file).takeRetainedValue()
        return unsafe open.realMethods.pointee.xClose(file)
    }

    /// Locks or unlocks the index, unless the disk's simulated program holds the write lock, which is the first of the
    /// index's locks (sqlite.org/walformat.html §2.3).
    private func lockIndex(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ first: CInt, _ count: CInt, _ flags: CInt
    ) -> CInt {
        if disk.isLocked, first == 0, flags == SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE { return SQLITE_BUSY }
        return unsafe realMethods.pointee.xShmLock(file, first, count, flags)
    }

    private func read(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeMutableRawPointer?, _ count: CInt,
        _ offset: sqlite3_int64
    ) -> CInt {
        do throws(SystemError) {
            return try disk.perform(.read, on: path, mayWrite: false) { _ in
                unsafe realMethods.pointee.xRead(file, bytes, count, offset)
            }
        } catch { return ResultCode.read }
    }

    private func write(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: CInt,
        _ offset: sqlite3_int64
    ) -> CInt {
        do throws(SystemError) {
            return try disk.perform(.write, on: path) { isShort throws(SystemError) in
                let growth = max(0, Int(offset) + Int(count) - disk.history(of: path).size)
                let missing = growth == 0 ? 0 : max(0, growth - (try disk.freeBytes()))
                let taken = isShort ? Int(count) / 2 : max(0, Int(count) - missing)
                let new = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: taken))
                let old = unsafe content(of: file, at: Int(offset), count: taken)
                let code = unsafe realMethods.pointee.xWrite(file, bytes, CInt(taken), offset)
                guard code == SQLITE_OK else { return code }
                if taken > 0 { disk.recordWrite(new, to: path, at: Int(offset), over: old) }
                return taken < Int(count) ? SQLITE_FULL : SQLITE_OK
            }
        } catch { return error.number == DiskErrno.noSpace ? SQLITE_FULL : ResultCode.write }
    }

    private func truncate(_ file: UnsafeMutablePointer<sqlite3_file>?, _ count: sqlite3_int64) -> CInt {
        do throws(SystemError) {
            return try disk.perform(.truncate, on: path) { _ in
                let size = disk.history(of: path).size
                let tail = unsafe content(of: file, at: Int(count), count: max(0, size - Int(count)))
                let code = unsafe realMethods.pointee.xTruncate(file, count)
                if code == SQLITE_OK { disk.recordTruncation(of: path, to: Int(count), tail: tail) }
                return code
            }
        } catch { return ResultCode.truncate }
    }

    /// Records a sync. Nothing is synchronised on the real disk, because only this disk's own records decide what is
    /// durable.
    private func synchronize() -> CInt {
        do throws(SystemError) {
            try disk.perform(.sync, on: path, mayWrite: false) { _ in disk.recordSync(of: path) }
        } catch { return ResultCode.sync }
        guard syncsDirectory else { return SQLITE_OK }
        // SQLite ignores a failure of this call.
        do throws(SystemError) { try disk.synchronizeDirectory(at: FileSystem.parent(of: path)) } catch {}
        syncsDirectory = false
        return SQLITE_OK
    }

    /// Returns the file's bytes in the range; fewer if the file ends in it.
    private func content(of file: UnsafeMutablePointer<sqlite3_file>?, at offset: Int, count: Int) -> [UInt8] {
        let count = max(0, min(count, disk.history(of: path).size - offset))
        if count == 0 { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let code = unsafe realMethods.pointee.xRead(file, buffer.baseAddress, CInt(count), sqlite3_int64(offset))
            precondition(code == SQLITE_OK, "the bytes to overwrite cannot be read: \(code)")
            filled = count
        }
    }
}
