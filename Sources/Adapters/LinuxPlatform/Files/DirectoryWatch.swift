import CLinux
import Glibc

/// Notices that something appears at a path, however many of its folders are missing: inotify(7) on each folder in
/// which the next component of the path is awaited.
///
/// Links in the path are followed, as a device appears in another folder than the link to it. Folders may vanish and
/// come back: then the nearest one above them is watched. For one thread.
package final class DirectoryWatch {
    private static let events = UInt32(
        IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
    /// What befalls a watched folder itself, or the queue of events.
    private static let upheavals = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED | IN_Q_OVERFLOW)
    private static let longestChainOfLinks = 8
    /// Reads at a time: a storm of events leaves the rest for the next look.
    private static let readsAtATime = 16

    private let path: String
    private let descriptor: OwnedDescriptor
    /// By the kernel's number of a watched folder: the names that are awaited in it.
    private var awaited: [CInt: Set<String>] = [:]
    private var buffer = [UInt8](repeating: 0, count: 4096)

    /// Watches `path`, of which nothing need exist.
    ///
    /// - Throws: when the system gives no inotify descriptor. A folder that may not be read is not watched.
    package init(for path: String) throws(SystemError) {
        self.path = path
        descriptor = OwnedDescriptor(
            owning: try valueOrSystemError("inotify") { inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK)) })
        arm()
    }

    /// For `poll`: readable once something has happened in a watched folder, be it of interest or not.
    package var raw: CInt { descriptor.raw }

    /// Whether a component of the path has appeared, or changed its owner or mode, since the last call.
    package func takeArrival() -> Bool {
        var isDue = false
        for _ in 0..<Self.readsAtATime {
            var span = buffer.mutableSpan
            guard let count = try? descriptor.read(into: &span), count > 0 else { break }  // all is read
            for event in Self.events(in: buffer[..<count]) {
                // Events of folders that are not watched any more may still be under way.
                guard event.mask & UInt32(IN_Q_OVERFLOW) != 0 || awaited[event.folder] != nil else { continue }
                let isAwaited = awaited[event.folder]?.contains(event.name) ?? false
                if isAwaited || event.mask & Self.upheavals != 0 { isDue = true }
            }
        }
        if isDue { arm() }
        return isDue
    }

    /// Watches the folders that matter now, and no others.
    private func arm() {
        var now: [CInt: Set<String>] = [:]
        var next: String? = path
        for _ in 0...Self.longestChainOfLinks {
            guard let step = next, let (folder, name) = watch(wayTo: step) else { break }
            now[folder, default: []].insert(name)
            next = FileSystem.linkTarget(at: step).map {
                $0.hasPrefix("/") ? $0 : FileSystem.parent(of: step) + "/" + $0
            }
        }
        for folder in awaited.keys where now[folder] == nil { inotify_rm_watch(descriptor.raw, folder) }
        awaited = now
    }

    /// Watches the nearest existing folder of `path`, and returns the name that is awaited in it.
    private func watch(wayTo path: String) -> (folder: CInt, name: String)? {
        var found = watchNearestFolder(above: path)
        // What was made before the watch began caused no event: look again until nothing is new.
        for _ in 0..<Self.longestChainOfLinks {
            let again = watchNearestFolder(above: path)
            if again?.folder == found?.folder { break }
            found = again
        }
        return found
    }

    private func watchNearestFolder(above path: String) -> (folder: CInt, name: String)? {
        var step = path
        while true {
            let parent = FileSystem.parent(of: step)
            let folder = unsafe inotify_add_watch(descriptor.raw, parent, Self.events)
            if folder >= 0 { return (folder, FileSystem.name(of: step)) }
            if parent == step || parent == "/" || parent == "." { return nil }
            step = parent
        }
    }

    /// The records in what was read.
    private static func events(in bytes: ArraySlice<UInt8>) -> [(folder: CInt, mask: UInt32, name: String)] {
        var events: [(folder: CInt, mask: UInt32, name: String)] = []
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
