import CLinux
import Glibc

/// Who listens on a TCP port of this machine, as `process 4711, nginx`; `nil` when it cannot be told, as for the
/// process of another user.
///
/// The kernel's table of sockets gives the socket's inode, and the descriptor links of processes lead to it.
package func listeningProcess(port: UInt16) -> String? {
    let digits = String(port, radix: 16, uppercase: true)
    let suffix = ":" + String(repeating: "0", count: 4 - digits.count) + digits
    var link: String?
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in contents(ofFile: table).split(separator: "\n").dropFirst() {
            let columns = line.split(separator: " ")
            guard columns.count > 9, columns[1].hasSuffix(suffix), columns[3] == "0A" else { continue }
            link = "socket:[\(columns[9])]"
        }
    }
    guard let link else { return nil }
    for processID in FileSystem.visibleNames(inFolder: "/proc").compactMap({ Int32($0) }) {
        let folder = "/proc/\(processID)/fd"
        for name in FileSystem.visibleNames(inFolder: folder)
        where FileSystem.linkTarget(at: "\(folder)/\(name)") == link {
            return "process \(processID)" + (commandName(ofProcess: processID).map { ", \($0)" } ?? "")
        }
    }
    return nil
}

private func contents(ofFile path: String) -> String {
    guard let file = try? OwnedDescriptor(opening: path, O_RDONLY) else { return "" }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while text.count < 1 << 22 {
        let count = unsafe read(file.raw, &chunk, chunk.count)
        guard count > 0 else { break }
        text += chunk[..<count]
    }
    return String(decoding: text, as: UTF8.self)
}
