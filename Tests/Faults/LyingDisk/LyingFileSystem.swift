import CSQLite
import Glibc
import LinuxPlatform

/// The SQLite VFS of one lying disk, on top of SQLite's own VFS for Unix. It is registered until it is released.
@safe final class LyingFileSystem {
    let name: String
    private let registration: UnsafeMutablePointer<sqlite3_vfs>
    private let cName: UnsafeMutablePointer<CChar>

    private static let registrationCount = Locked(0)

    /// Creates and registers the file system. `disk` must outlive this value and every file that is open on it.
    init(_ disk: LyingDisk) {
        name = "lying-disk-\(Self.registrationCount.withLock { $0 += 1; return $0 })"
        unsafe cName = strdup(name)
        unsafe registration = .allocate(capacity: 1)
        // Times and random numbers come from the real VFS. Memory maps aren't offered.
        unsafe registration.initialize(to: realFileSystem.pointee)
        unsafe registration.pointee.iVersion = 2
        unsafe registration.pointee.szOsFile = CInt(OpenFile.referenceOffset + MemoryLayout<UnsafeRawPointer>.size)
        unsafe registration.pointee.pNext = nil
        unsafe registration.pointee.zName = UnsafePointer(cName)
        unsafe registration.pointee.pAppData = Unmanaged.passUnretained(disk).toOpaque()
        unsafe registration.pointee.xOpen = openFile
        unsafe registration.pointee.xDelete = deleteFile
        unsafe registration.pointee.xAccess = checkAccess
        unsafe registration.pointee.xGetLastError = lastError
        unsafe registration.pointee.xSleep = skipSleep
        let code = unsafe sqlite3_vfs_register(registration, 0)
        precondition(code == SQLITE_OK, "SQLite does not accept the VFS: \(code)")
    }

    deinit {
        unsafe sqlite3_vfs_unregister(registration)
        unsafe registration.deallocate()
        unsafe free(cName)
    }
}

/// SQLite's own VFS, which is permanent.
var realFileSystem: UnsafeMutablePointer<sqlite3_vfs> {
    guard let found = unsafe sqlite3_vfs_find("unix") else { preconditionFailure("SQLite has no VFS for Unix") }
    return unsafe found
}

private func disk(of registration: UnsafeMutablePointer<sqlite3_vfs>?) -> LyingDisk {
    guard let data = unsafe registration?.pointee.pAppData else { preconditionFailure("a VFS without its disk") }
    return unsafe Unmanaged<LyingDisk>.fromOpaque(data).takeUnretainedValue()
}

private func openFile(
    _ registration: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: CInt, _ flagsOut: UnsafeMutablePointer<CInt>?
) -> CInt {
    let disk = unsafe disk(of: registration)
    unsafe file?.pointee.pMethods = nil  // so that SQLite doesn't close a file that isn't open
    func open(_ flags: CInt) -> CInt {
        unsafe realFileSystem.pointee.xOpen(realFileSystem, name, file, flags, flagsOut)
    }
    guard let path = unsafe name.map({ unsafe String(cString: $0) }) else { return open(flags) }
    precondition(path.hasPrefix(disk.directory), "\(path) is not on the disk of \(disk.directory)")
    let isThere = (try? FileSystem.entry(at: path)) != nil
    let isReadOnly = disk.isReadOnly && isThere
    let openFlags = isReadOnly ? flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_READONLY : flags
    do throws(SystemError) {
        return try disk.perform(.open, on: path, mayWrite: !isThere) { _ throws(SystemError) in
            let code = open(openFlags)
            guard code == SQLITE_OK, let file = unsafe file else {
                disk.lastError = errno
                return code
            }
            let isThereNow = try FileSystem.entry(at: path) != nil
            let isNew = isThereNow && !isThere
            if isNew { disk.recordCreation(of: path) }
            let isJournal = flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL) != 0
            let syncsDirectory = isJournal && flags & SQLITE_OPEN_CREATE != 0
            unsafe OpenFile.attach(to: file, disk: disk, path: path, syncsDirectory: syncsDirectory)
            return code
        }
    } catch {
        if error.number == DiskErrno.inputOutput, let file = unsafe file, unsafe file.pointee.pMethods != nil {
            // The power failed after the file was opened.
            _ = unsafe file.pointee.pMethods.pointee.xClose(file)
            unsafe file.pointee.pMethods = nil
        }
        return SQLITE_CANTOPEN
    }
}

private func deleteFile(
    _ registration: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?, _ syncsDirectory: CInt
) -> CInt {
    let disk = unsafe disk(of: registration)
    guard let path = unsafe name.map({ unsafe String(cString: $0) }) else { return ResultCode.delete }
    do throws(SystemError) {
        if try disk.entry(at: path) == nil { return ResultCode.nothingToDelete }
        try disk.removeFile(at: path)
        if syncsDirectory != 0 { try disk.synchronizeDirectory(at: FileSystem.parent(of: path)) }
        return SQLITE_OK
    } catch { return ResultCode.delete }
}

private func checkAccess(
    _ registration: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?, _ flags: CInt,
    _ answer: UnsafeMutablePointer<CInt>?
) -> CInt {
    if unsafe disk(of: registration).isOff { return ResultCode.access }
    return unsafe realFileSystem.pointee.xAccess(realFileSystem, name, flags, answer)
}

private func lastError(
    _ registration: UnsafeMutablePointer<sqlite3_vfs>?, _ count: CInt, _ text: UnsafeMutablePointer<CChar>?
) -> CInt {
    unsafe disk(of: registration).lastError
}

/// Returns at once instead of sleeping, because no lock is released while the only thread sleeps.
private func skipSleep(_ registration: UnsafeMutablePointer<sqlite3_vfs>?, _ microseconds: CInt) -> CInt {
    microseconds
}
