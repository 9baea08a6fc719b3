import CLinux
import Glibc

/// The whole of a terminal, for as long as the value lives: lines are drawn where they were, keys come one by one, and
/// in the end everything is as it was.
///
/// For one thread: it waits in `key`.
package struct TerminalScreen: ~Copyable {
    /// How many characters there are in a line, and how many lines.
    package struct Size: Sendable, Hashable {
        package let columns: Int
        package let rows: Int
    }

    package enum Key: Sendable, Hashable {
        /// What was pressed, or a part of it.
        case character(UInt8)
        /// Nobody is there any more, or this is to end.
        case end
    }

    private static let suspension = UInt8(0x1A)  // Control-Z
    // The other screen of the terminal, without cursor; what is too long is cut by the terminal.
    private static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leaving = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let settingsBefore: termios

    /// Takes the terminal that is standard input and output.
    package init() throws(SystemError) {
        var settings = termios()
        try valueOrSystemError("the terminal's settings cannot be read") { unsafe tcgetattr(STDIN_FILENO, &settings) }
        try Self.enter(settings)
        settingsBefore = settings  // last: only what was taken may be given back by deinit
    }

    deinit { Self.leave(settingsBefore) }

    /// Whether standard input and output are a terminal.
    package static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    /// As it is now; of a terminal that does not know, the usual.
    package var size: Size {
        var columns: CInt = 0
        var rows: CInt = 0
        let isKnown = unsafe clinux_window_size(STDOUT_FILENO, &columns, &rows) == 0 && columns > 0 && rows > 0
        return isKnown ? Size(columns: Int(columns), rows: Int(rows)) : Size(columns: 80, rows: 24)
    }

    /// Draws over what is there, at most as many lines as there are rows. They may steer the terminal.
    package func draw(_ lines: [String]) throws(SystemError) {
        // Cleared before it is written: behind a full line the cursor stands on its last character.
        let text = "\u{1B}[H" + lines.map { "\u{1B}[K" + $0 }.joined(separator: "\r\n")
        try StandardOutput.write(Array(text.utf8))
    }

    /// Waits for a key; `nil` when none came in time. After a key all may have to be drawn again.
    package func key(within timeout: Duration, unless stop: EventDescriptor) throws(SystemError) -> Key? {
        switch try poll(STDIN_FILENO, within: timeout, unless: stop) {
        case .stopped: return .end
        case .timedOut: return nil
        case .ready: break
        }
        var byte = UInt8(0)
        let count = try valueOrSystemError("read from the terminal") { unsafe read(STDIN_FILENO, &byte, 1) }
        guard count == 1 else { return .end }
        if byte == Self.suspension { try suspend() }
        return .character(byte)
    }

    /// Gives the terminal back to the shell until this program is to go on.
    private func suspend() throws(SystemError) {
        Self.leave(settingsBefore)
        // The threads of a pool, of which this one was made, block every signal. SIGTTOU stops it again where the shell
        // lets it go on in the background.
        var stops = sigset_t()
        unsafe sigemptyset(&stops)
        for number in [SIGTSTP, SIGTTIN, SIGTTOU] { unsafe sigaddset(&stops, number) }
        unsafe pthread_sigmask(SIG_UNBLOCK, &stops, nil)
        raise(SIGTSTP)  // to this thread: another one would stop it a moment later
        try Self.enter(settingsBefore)
    }

    private static func enter(_ before: termios) throws(SystemError) {
        var settings = before
        // Keys at once and unseen. Control-C is a key: the terminal has to be given back first.
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        settings.c_iflag &= ~tcflag_t(IXON)
        try StandardOutput.write(Array(entering.utf8))
        do throws(SystemError) {
            try valueOrSystemError("the terminal cannot be set up") {
                unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
            }
        } catch {
            leave(before)
            throw error
        }
    }

    private static func leave(_ before: termios) {
        try? StandardOutput.write(Array(leaving.utf8))  // a terminal that is gone needs nothing
        var settings = before
        _ = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }
}
