import CLinux
import Glibc

/// A socket or pipe that is written to without waiting for a reader who hangs; what such a one does not take is left
/// out, and the caller told. A terminal or a file is written to in the usual way.
package final class NonblockingOutput: Sendable {
    /// A reader that is merely slow is waited for; once it has not come in that time, it is not waited for again.
    private static let patience = Duration.milliseconds(100)

    private let raw: CInt
    private let isSocket: Bool
    /// A pipe is opened once more, for the description behind `raw` is shared with others and to stay as it is.
    private let isOwn: Bool
    private let isStuck = Locked(false)

    /// `raw` stays its owner's, and open as long as this value is used.
    package init(to raw: CInt) {
        var status = stat()
        let kind = unsafe fstat(raw, &status) == 0 ? status.st_mode & S_IFMT : 0
        isSocket = kind == S_IFSOCK
        let own = kind == S_IFIFO ? try? OwnedDescriptor(opening: "/proc/self/fd/\(raw)", O_WRONLY | O_NONBLOCK) : nil
        if let own {
            (self.raw, isOwn) = (own.release(), true)
        } else {
            (self.raw, isOwn) = (raw, false)
        }
    }

    deinit { if isOwn { close(raw) } }

    /// Writes `bytes`; false when not all of them were taken.
    package func write(_ bytes: [UInt8]) -> Bool {
        var done = 0
        var mayWait = !isStuck.withLock { $0 }
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
                return isSocket
                    ? unsafe send(raw, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
                    : unsafe Glibc.write(raw, rest.baseAddress, rest.count)
            }
            if count > 0 {
                done += count
            } else if count < 0, errno == EINTR {
                continue
            } else if count < 0, errno == EAGAIN, mayWait {
                mayWait = false
                waitForRoom()
            } else {
                isStuck.withLock { $0 = true }
                return false
            }
        }
        isStuck.withLock { $0 = false }
        return true
    }

    private func waitForRoom() {
        var entry = pollfd(fd: raw, events: CShort(POLLOUT), revents: 0)
        _ = unsafe Glibc.poll(&entry, 1, CInt(Self.patience / .milliseconds(1)))
    }
}
