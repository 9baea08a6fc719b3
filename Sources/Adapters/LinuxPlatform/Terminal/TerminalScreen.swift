import CLinux
import Glibc

/// The whole screen of a terminal while this value lives: lines are drawn in place, and keys arrive one by one.
/// Afterwards the terminal is restored. This type isn't thread-safe.
package struct TerminalScreen: ~Copyable {
    /// The number of columns and rows.
    package struct Size: Sendable, Hashable {
        package let columns: Int
        package let rows: Int
    }

    package enum Key: Sendable, Hashable {
        /// A byte of the key that was pressed.
        case character(UInt8)
        /// The input ended, or the wait was stopped.
        case end
    }

    private static let suspension = UInt8(0x1A)  // Control-Z
    // The alternate screen, without cursor, and without wrapping of long lines.
    private static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leaving = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let settingsBefore: termios

    /// Takes over the terminal that is standard input and output.
    package init() throws(SystemError) {
        var settings = termios()
        try valueOrSystemError("the terminal's settings cannot be read") { unsafe tcgetattr(STDIN_FILENO, &settings) }
        try Self.enter(settings)
        settingsBefore = settings  // last, so that deinit restores only a terminal that was taken over
    }

    deinit { Self.leave(settingsBefore) }

    /// Whether standard input and output are a terminal.
    package static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    /// The current size; 80 by 24 if the terminal doesn't report it.
    package var size: Size {
        var columns: CInt = 0
        var rows: CInt = 0
        let isKnown = unsafe clinux_window_size(STDOUT_FILENO, &columns, &rows) == 0 && columns > 0 && rows > 0
        return isKnown ? Size(columns: Int(columns), rows: Int(rows)) : Size(columns: 80, rows: 24)
    }

    /// Draws `lines` over the current ones, at most as many as there are rows. The lines may contain control sequences.
    package func draw(_ lines: [String]) throws(SystemError) {
        // Clear each line before writing it: after a full line the cursor is on its last character.
        let text = "\u{1B}[H" + lines.map { "\u{1B}[K" + $0 }.joined(separator: "\r\n")
        try StandardOutput.write(Array(text.utf8))
    }

    /// Waits for a key. Returns `nil` if none arrives in time. After a key press the caller may have to draw everything
    /// again.
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

    /// Returns the terminal to the shell until this program is resumed.
    private func suspend() throws(SystemError) {
        Self.leave(settingsBefore)
        // Pool threads, from which this thread inherits its mask, block every signal. SIGTTOU stops the program again
        // if the shell resumes it in the background.
        var stops = sigset_t()
        unsafe sigemptyset(&stops)
        for number in [SIGTSTP, SIGTTIN, SIGTTOU] { unsafe sigaddset(&stops, number) }
        unsafe pthread_sigmask(SIG_UNBLOCK, &stops, nil)
        raise(SIGTSTP)  // to this thread, because another one would stop the process a moment later
        try Self.enter(settingsBefore)
    }

    private static func enter(_ before: termios) throws(SystemError) {
        var settings = before
        // Deliver keys at once, without echo. Control-C is a key, because the terminal must be restored first.
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
        try? StandardOutput.write(Array(leaving.utf8))  // fails only if the terminal is gone
        var settings = before
        _ = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }
}
