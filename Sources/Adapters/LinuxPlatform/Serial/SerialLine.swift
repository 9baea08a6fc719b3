import CLinux
import Glibc

/// A serial port that is open for reading. The settings are 8 data bits, no parity, 1 stop bit, unmodified bytes, and
/// exclusive use.
///
/// The port isn't opened for writing, so nothing ever reaches the receiver, not even an echo. This type is a class so
/// that the port is closed when the last reference is released.
package final class SerialLine: Sendable {
    /// The baud rates that receivers use, in ascending order.
    package static let supportedBaudRates: [Int] = speeds.keys.sorted()

    private static let speeds: [Int: speed_t] = [
        4800: speed_t(B4800), 9600: speed_t(B9600), 19_200: speed_t(B19200), 38_400: speed_t(B38400),
        57_600: speed_t(B57600), 115_200: speed_t(B115200), 230_400: speed_t(B230400), 460_800: speed_t(B460800),
        921_600: speed_t(B921600),
    ]

    private let descriptor: OwnedDescriptor

    /// Opens the device at `path`, which may be a symbolic link, for exclusive use.
    package init(path: String, baudRate: Int) throws(SerialLineError) {
        guard let speed = Self.speeds[baudRate] else { throw .unsupportedBaudRate(baudRate) }
        let descriptor = try Self.open(path)
        guard isatty(descriptor.raw) == 1 else { throw .notASerialPort }
        try Self.lock(descriptor: descriptor.raw, path: path)
        do throws(SerialLineError) {
            try Self.configure(descriptor: descriptor.raw, speed: speed)
            // tcsetattr reports success even if it applied only some of the settings. So the rate is read back.
            guard Self.speed(of: descriptor.raw) == speed else { throw .baudRateRejected(baudRate) }
        } catch {
            clinux_clear_exclusive(descriptor.raw)
            throw error
        }
        self.descriptor = descriptor  // last, so that deinit runs only if the port has been acquired
    }

    deinit {
        // A pseudo-terminal still exists after its last close, and would keep the flag for exclusive use.
        clinux_clear_exclusive(descriptor.raw)
    }

    /// Returns the kernel subsystem of a device that isn't a serial port, such as `mem` for `/dev/null`. Returns `nil`
    /// for a serial port, and if the subsystem is unknown, as for a pseudo-terminal. Doesn't open the device.
    package static func foreignSubsystem(ofDevice path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        let directory = status.st_mode & S_IFMT == S_IFBLK ? "block" : "char"
        let number = "\(clinux_major(status.st_rdev)):\(clinux_minor(status.st_rdev))"
        let target = FileSystem.linkTarget(at: "/sys/dev/\(directory)/\(number)/subsystem")
        let name = target.map(FileSystem.lastComponent(of:))
        return name == "tty" ? nil : name
    }

    package var raw: CInt { descriptor.raw }

    /// Reads the bytes that have arrived, and returns their number. Returns zero if the device has gone. Throws
    /// `EAGAIN` if no bytes have arrived.
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

    /// Acquires two locks. `flock` keeps out programs that also use `flock`, and a second attempt by this program.
    /// `TIOCEXCL` keeps out all other programs.
    private static func lock(descriptor: CInt, path: String) throws(SerialLineError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .busy(path: path, holders: HoldingProcess.blockers(ofDevice: path))
        }
        // TIOCEXCL doesn't keep root out, and a killed program may have left the flag set. So the port counts as busy
        // only if another process really has it open.
        if clinux_is_exclusive(descriptor) == 1 {
            let others = HoldingProcess.others(withDevice: path)
            guard others.isEmpty else { throw .busy(path: path, holders: others) }
        }
        clinux_set_exclusive(descriptor)
    }

    private static func configure(descriptor: CInt, speed: speed_t) throws(SerialLineError) {
        do throws(SystemError) {
            var settings = termios()
            try valueOrSystemError("settings cannot be read") { unsafe tcgetattr(descriptor, &settings) }
            unsafe cfmakeraw(&settings)  // also makes `read` return as soon as one byte has arrived
            settings.c_iflag &= ~tcflag_t(IXOFF | IXANY | INPCK)
            settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
            settings.c_cflag &= ~(tcflag_t(CSTOPB | HUPCL) | tcflag_t(CRTSCTS))
            unsafe cfsetispeed(&settings, speed)
            unsafe cfsetospeed(&settings, speed)
            try valueOrSystemError("cannot be set up") { unsafe tcsetattr(descriptor, TCSANOW, &settings) }
            // Bytes received at the previous baud rate are noise.
            try valueOrSystemError("cannot be flushed") { tcflush(descriptor, TCIFLUSH) }
        } catch {
            throw .system(error)
        }
    }

    private static func speed(of descriptor: CInt) -> speed_t? {
        var settings = termios()
        return unsafe tcgetattr(descriptor, &settings) == 0 ? unsafe cfgetispeed(&settings) : nil
    }
}

/// The reason why a serial port could not be opened.
package enum SerialLineError: Error, Sendable, Hashable {
    case unsupportedBaudRate(Int)
    /// The driver didn't accept the baud rate and kept another one.
    case baudRateRejected(Int)
    case missing
    case permissionDenied
    /// The service's systemd unit, or the container, doesn't allow the device.
    case notAllowed(path: String)
    /// The port is open already. `holders` is empty if `/proc` doesn't show which processes have it open.
    case busy(path: String, holders: [HoldingProcess])
    case notASerialPort
    case system(SystemError)

    /// Creates the error for a failed `open`.
    init(opening path: String, _ error: SystemError) {
        switch error.number {
        case ENOENT, ENXIO, ENODEV, EIO, ENOTDIR: self = .missing
        case EACCES: self = .permissionDenied
        case EPERM: self = .notAllowed(path: path)
        case EBUSY: self = .busy(path: path, holders: HoldingProcess.blockers(ofDevice: path))
        case EISDIR: self = .notASerialPort
        default: self = .system(SystemError(call: "cannot be opened", number: error.number))
        }
    }
}
