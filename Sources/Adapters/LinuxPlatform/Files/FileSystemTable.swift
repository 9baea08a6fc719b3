/// The file systems that this machine should mount, according to `/etc/fstab`.
package enum FileSystemTable {
    /// Returns the nearest mount point above `path` that `table` lists, if nothing is mounted there. Blocks while it
    /// reads the files.
    ///
    /// Returns `nil` if something is mounted there, if `table` lists no such mount point, or if one of the files can't
    /// be read. Doesn't find mount points with spaces in their paths, because both files escape spaces.
    package static func unmounted(
        above path: String, table: String = "/etc/fstab", mounts: String = "/proc/self/mountinfo"
    ) -> String? {
        guard let planned = try? column(1, of: table), let mounted = try? column(4, of: mounts) else { return nil }
        var directory = FileSystem.parent(of: path)
        while directory.utf8.count > 1 {
            let name = Array(directory.utf8)
            if planned.contains(name) { return mounted.contains(name) ? nil : directory }
            directory = FileSystem.parent(of: directory)
        }
        return nil
    }

    /// Returns the field at `index` of each line that contains such a field and isn't a comment, without a trailing
    /// slash.
    private static func column(_ index: Int, of file: String) throws(BoundedFile.Refusal) -> [[UInt8]] {
        let text = try BoundedFile.contents(of: file, limit: 1 << 20)
        return text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = line.split { " \t".utf8.contains($0) }
            guard fields.count > index, fields[0].first != UInt8(ascii: "#") else { return nil }
            let path = fields[index]
            return Array(path.last == UInt8(ascii: "/") ? path.dropLast() : path)
        }
    }
}
