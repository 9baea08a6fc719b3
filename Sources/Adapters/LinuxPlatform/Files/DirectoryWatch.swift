import CLinux
import Glibc

/// A watch that reports when something appears at a path, even if several directories of the path are still missing. It
/// watches each directory that should contain the next component of the path, by inotify(7).
///
/// The watch follows symbolic links, because a device and the symbolic link to it are in different directories. If a
/// directory vanishes, its nearest existing ancestor is watched until the directory returns. This type isn't
/// thread-safe.
package final class DirectoryWatch {
    private static let events = UInt32(
        IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
    /// The events that concern a watched directory itself, or the event queue.
    private static let directoryEvents = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED | IN_Q_OVERFLOW)
    private static let maximumLinks = 8
    /// The maximum number of reads per call of `takeArrival`. If many events arrive at once, the next call reads the
    /// rest.
    private static let maximumReads = 16

    private let path: String
    private let descriptor: OwnedDescriptor
    /// The names expected in each watched directory, keyed by inotify's watch descriptor for the directory.
    private var awaitedNames: [CInt: Set<String>] = [:]
    private var buffer = [UInt8](repeating: 0, count: 4096)

    /// Starts to watch `path`. Neither the path nor its directories need to exist. A directory that this user can't
    /// read is treated as missing.
    ///
    /// - Throws: an error if the system provides no inotify descriptor.
    package init(for path: String) throws(SystemError) {
        self.path = path
        descriptor = OwnedDescriptor(
            owning: try valueOrSystemError("inotify") { inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK)) })
        updateWatches()
    }

    /// A descriptor for `poll`, readable after any event in a watched directory.
    package var raw: CInt { descriptor.raw }

    /// Returns whether a component of the path has appeared, or changed its owner or mode, since the last call.
    package func takeArrival() -> Bool {
        var isDue = false
        for _ in 0..<Self.maximumReads {
            var span = buffer.mutableSpan
            guard let count = try? descriptor.read(into: &span), count > 0 else { break }
            for event in Self.events(in: buffer[..<count]) {
                // The queue may still hold events of directories that are no longer watched.
                guard event.mask & UInt32(IN_Q_OVERFLOW) != 0 || awaitedNames[event.directory] != nil else { continue }
                let isAwaited = awaitedNames[event.directory]?.contains(event.name) ?? false
                if isAwaited || event.mask & Self.directoryEvents != 0 { isDue = true }
            }
        }
        if isDue { updateWatches() }
        return isDue
    }

    /// Watches the directories that the path currently depends on, and stops watching all others.
    private func updateWatches() {
        var now: [CInt: Set<String>] = [:]
        var next: String? = path
        for _ in 0...Self.maximumLinks {
            guard let step = next, let (directory, name) = watch(towards: step) else { break }
            now[directory, default: []].insert(name)
            next = FileSystem.linkTarget(at: step).map {
                $0.hasPrefix("/") ? $0 : FileSystem.parent(of: step) + "/" + $0
            }
        }
        for directory in awaitedNames.keys where now[directory] == nil { inotify_rm_watch(descriptor.raw, directory) }
        awaitedNames = now
    }

    /// Watches the nearest existing directory above `path`. Returns the directory's watch descriptor, and the name
    /// expected in the directory.
    private func watch(towards path: String) -> (directory: CInt, name: String)? {
        var found = watchNearestDirectory(above: path)
        // A directory created just before the watch began causes no event. So repeat until the nearest directory stays
        // the same.
        for _ in 0..<Self.maximumLinks {
            let again = watchNearestDirectory(above: path)
            if again?.directory == found?.directory { break }
            found = again
        }
        return found
    }

    private func watchNearestDirectory(above path: String) -> (directory: CInt, name: String)? {
        var step = path
        while true {
            let parent = FileSystem.parent(of: step)
            let directory = unsafe inotify_add_watch(descriptor.raw, parent, Self.events)
            if directory >= 0 { return (directory, FileSystem.name(of: step)) }
            if parent == step || parent == "/" || parent == "." { return nil }
            step = parent
        }
    }

    private static func events(in bytes: ArraySlice<UInt8>) -> [(directory: CInt, mask: UInt32, name: String)] {
        var events: [(directory: CInt, mask: UInt32, name: String)] = []
        unsafe bytes.withUnsafeBytes { bytes in
            var at = 0
            while at + MemoryLayout<inotify_event>.size <= bytes.count {
                let event = unsafe bytes.loadUnaligned(fromByteOffset: at, as: inotify_event.self)
                at += MemoryLayout<inotify_event>.size
                let end = min(at + Int(event.len), bytes.count)
                let name = unsafe String(decoding: bytes[at..<end].prefix { $0 != 0 }, as: UTF8.self)
                events.append((event.wd, event.mask, name))
                at = end
            }
        }
        return events
    }
}
