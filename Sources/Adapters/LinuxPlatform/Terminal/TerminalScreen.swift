import CLinux
import Glibc

/// A terminal whose whole screen this program uses. Lines are drawn in place, and each key press can be read at once.
/// The terminal is restored when the value is destroyed. This type isn't thread-safe.
package struct TerminalScreen: ~Copyable {
    /// The size of a terminal in characters.
    package struct Size: Sendable, Hashable {
        package let columns: Int
        package let rows: Int
    }

    package enum Key: Sendable, Hashable {
        /// A key was pressed. Some keys send several bytes, which arrive one by one.
        case character(UInt8)
        /// The input has ended, or the caller has stopped the wait.
        case end
    }

    private static let suspendKey = UInt8(0x1A)  // Control-Z
    // Switches to the alternate screen, hides the cursor, and cuts long lines instead of wrapping them.
    private static let enterSequence = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leaveSequence = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let settingsBefore: termios

    /// Takes over the terminal to which standard input and output are connected.
    package init() throws(SystemError) {
        var settings = termios()
        try valueOrSystemError("the terminal's settings cannot be read") { unsafe tcgetattr(STDIN_FILENO, &settings) }
        try Self.enter(from: settings)
        settingsBefore = settings  // last, so that deinit runs only if the terminal has been taken over
    }

    deinit { Self.leave(restoring: settingsBefore) }

    /// Whether standard input and standard output are both a terminal.
    package static var isPossible: Bool { hasKeyboard && isatty(STDOUT_FILENO) == 1 }
    /// Whether standard input is a terminal.
    package static var hasKeyboard: Bool { isatty(STDIN_FILENO) == 1 }

    /// The current size; 80 by 24 if the terminal doesn't report it.
    package var size: Size {
        var columns: CInt = 0
        var rows: CInt = 0
        let isKnown = unsafe clinux_window_size(STDOUT_FILENO, &columns, &rows) == 0 && columns > 0 && rows > 0
        return isKnown ? Size(columns: Int(columns), rows: Int(rows)) : Size(columns: 80, rows: 24)
    }

    /// Draws `lines` over the current screen, from the top. There must be at most as many lines as rows. The lines may
    /// contain control sequences.
    package func draw(_ lines: [String]) throws(SystemError) {
        // Each line is cleared before it is written. Afterwards would be too late: the cursor is still on the last
        // character of a full line, which would be cleared.
        let text = "\u{1B}[H" + lines.map { "\u{1B}[K" + $0 }.joined(separator: "\r\n")
        try StandardOutput.write(Array(text.utf8))
    }

    /// Waits for a key. Returns `nil` if no key is pressed within `timeout`. After a key press, the caller should draw
    /// the screen again, because Control-Z may have cleared it.
    package func nextKey(within timeout: Duration, unless stop: EventDescriptor) throws(SystemError) -> Key? {
        switch try poll(STDIN_FILENO, within: timeout, unless: stop) {
        case .stopped: return .end
        case .timedOut: return nil
        case .ready: break
        }
        var byte = UInt8(0)
        let count = try valueOrSystemError("read from the terminal") { unsafe read(STDIN_FILENO, &byte, 1) }
        guard count == 1 else { return .end }
        if byte == Self.suspendKey { try suspend() }
        return .character(byte)
    }

    /// Gives the terminal back to the shell, and suspends this program. Takes the terminal over again when the program
    /// is resumed.
    private func suspend() throws(SystemError) {
        Self.leave(restoring: settingsBefore)
        // This thread has inherited its signal mask from the pool's threads, which block every signal. SIGTTOU must be
        // able to stop the program again if the shell resumes it in the background.
        var stops = sigset_t()
        unsafe sigemptyset(&stops)
        for number in [SIGTSTP, SIGTTIN, SIGTTOU] { unsafe sigaddset(&stops, number) }
        unsafe pthread_sigmask(SIG_UNBLOCK, &stops, nil)
        raise(SIGTSTP)  // signals this thread, because any other thread would stop the process only a moment later
        try Self.enter(from: settingsBefore)
    }

    private static func enter(from settingsBefore: termios) throws(SystemError) {
        var settings = settingsBefore
        // Deliver each key at once, and don't echo it. Control-C arrives as a key too, because the terminal must be
        // restored before the program ends.
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        settings.c_iflag &= ~tcflag_t(IXON)
        try StandardOutput.write(Array(enterSequence.utf8))
        do throws(SystemError) {
            try valueOrSystemError("the terminal cannot be set up") {
                unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
            }
        } catch {
            leave(restoring: settingsBefore)
            throw error
        }
    }

    private static func leave(restoring settingsBefore: termios) {
        try? StandardOutput.write(Array(leaveSequence.utf8))  // fails only if the terminal is gone
        var settings = settingsBefore
        _ = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }
}
