import CLinux
import Glibc

/// An open serial port for reading: 8 data bits, no parity, 1 stop bit, unmodified bytes, exclusive use.
///
/// The port is opened for reading only, so that nothing, not even an echo, ever reaches the receiver. This type is a
/// class so that the port closes when the last reference is released.
package final class SerialLine: Sendable {
    /// The baud rates that receivers use, ascending.
    package static let supportedBaudRates: [Int] = speeds.keys.sorted()

    private static let speeds: [Int: speed_t] = [
        4800: speed_t(B4800), 9600: speed_t(B9600), 19_200: speed_t(B19200), 38_400: speed_t(B38400),
        57_600: speed_t(B57600), 115_200: speed_t(B115200), 230_400: speed_t(B230400), 460_800: speed_t(B460800),
        921_600: speed_t(B921600),
    ]

    private let descriptor: OwnedDescriptor

    /// Opens the device at `path`, which may be a link, for exclusive use.
    package init(path: String, baudRate: Int) throws(SerialLineError) {
        guard let speed = Self.speeds[baudRate] else { throw .unsupportedBaudRate(baudRate) }
        let descriptor = try Self.open(path)
        guard isatty(descriptor.raw) == 1 else { throw .notASerialPort }
        try Self.lock(descriptor.raw, path)
        do throws(SerialLineError) {
            try Self.configure(descriptor.raw, speed)
            // tcsetattr succeeds if it could apply any of the settings, so the rate is read back.
            guard Self.speed(of: descriptor.raw) == speed else { throw .baudRateRejected(baudRate) }
        } catch {
            clinux_clear_exclusive(descriptor.raw)
            throw error
        }
        self.descriptor = descriptor  // last, so that deinit releases only a port that was acquired
    }

    deinit {
        // A pseudo-terminal outlives its last close, but the exclusive mark must not.
        clinux_clear_exclusive(descriptor.raw)
    }

    /// Returns the kernel's subsystem, such as `mem` for `/dev/null`, of a device at `path` that isn't a serial port.
    /// Returns `nil` for a serial port, or if the subsystem is unknown (pseudo-terminals). Doesn't open the device.
    package static func foreignSubsystem(ofDevice path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        let directory = status.st_mode & S_IFMT == S_IFBLK ? "block" : "char"
        let number = "\(clinux_major(status.st_rdev)):\(clinux_minor(status.st_rdev))"
        let target = FileSystem.linkTarget(at: "/sys/dev/\(directory)/\(number)/subsystem")
        let name = target.map(FileSystem.name(of:))
        return name == "tty" ? nil : name
    }

    package var raw: CInt { descriptor.raw }

    /// Reads what has arrived. Returns zero if the device has gone; throws `EAGAIN` if there is no data.
    package func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> Int {
        try descriptor.read(into: &buffer)
    }

    private static func open(_ path: String) throws(SerialLineError) -> OwnedDescriptor {
        do throws(SystemError) {
            return try OwnedDescriptor(opening: path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
        } catch {
            throw SerialLineError(opening: path, error)
        }
    }

    /// Acquires two locks: `flock` excludes programs that also use `flock`, and a second opening by this program.
    /// `TIOCEXCL` excludes all others.
    private static func lock(_ raw: CInt, _ path: String) throws(SerialLineError) {
        guard flock(raw, LOCK_EX | LOCK_NB) == 0 else {
            throw .busy(path: path, holders: HoldingProcess.blockers(ofDevice: path))
        }
        // Root bypasses TIOCEXCL, and a killed program may have left the mark behind.
        if clinux_is_exclusive(raw) == 1 {
            let others = HoldingProcess.others(withDevice: path)
            guard others.isEmpty else { throw .busy(path: path, holders: others) }
        }
        clinux_set_exclusive(raw)
    }

    private static func configure(_ raw: CInt, _ speed: speed_t) throws(SerialLineError) {
        do throws(SystemError) {
            var settings = termios()
            try valueOrSystemError("settings cannot be read") { unsafe tcgetattr(raw, &settings) }
            unsafe cfmakeraw(&settings)  // also makes reads return from one byte on
            settings.c_iflag &= ~tcflag_t(IXOFF | IXANY | INPCK)
            settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
            settings.c_cflag &= ~(tcflag_t(CSTOPB | HUPCL) | tcflag_t(CRTSCTS))
            unsafe cfsetispeed(&settings, speed)
            unsafe cfsetospeed(&settings, speed)
            try valueOrSystemError("cannot be set up") { unsafe tcsetattr(raw, TCSANOW, &settings) }
            // Bytes received at the old rate are noise.
            try valueOrSystemError("cannot be flushed") { tcflush(raw, TCIFLUSH) }
        } catch {
            throw .system(error)
        }
    }

    private static func speed(of raw: CInt) -> speed_t? {
        var settings = termios()
        return unsafe tcgetattr(raw, &settings) == 0 ? unsafe cfgetispeed(&settings) : nil
    }
}

/// The reason why a serial port could not be opened.
package enum SerialLineError: Error, Sendable, Hashable {
    case unsupportedBaudRate(Int)
    /// The driver kept another rate.
    case baudRateRejected(Int)
    case missing
    case permissionDenied
    /// Other programs have the port open. `holders` is empty if `/proc` doesn't show them.
    case busy(path: String, holders: [HoldingProcess])
    case notASerialPort
    case system(SystemError)

    /// Interprets a failed `open`.
    init(opening path: String, _ error: SystemError) {
        switch error.number {
        case ENOENT, ENXIO, ENODEV, EIO, ENOTDIR: self = .missing
        case EACCES, EPERM: self = .permissionDenied
        case EBUSY: self = .busy(path: path, holders: HoldingProcess.blockers(ofDevice: path))
        case EISDIR: self = .notASerialPort
        default: self = .system(SystemError(call: "cannot be opened", number: error.number))
        }
    }
}
